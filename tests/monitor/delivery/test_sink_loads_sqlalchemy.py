"""What MLflow loads in the thread that sends is loaded before there is one."""

import subprocess
import sys


def test_no_module_of_sqlalchemy_is_half_loaded_in_another_thread():
    program = (
        "import sys; import pumonitor.monitor.app; "
        "from pumonitor.monitor.delivery.mlflow.sink import MlflowSink; "
        "assert 'sqlalchemy.orm' not in sys.modules; "
        "MlflowSink('sqlite:///mlflow.db', run_ids={}); "
        "print('sqlalchemy.orm.exc' in sys.modules, 'mlflow' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "False"]
