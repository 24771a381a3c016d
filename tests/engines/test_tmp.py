import sys
import pandas as pd, pytest
import duckdb, os, tempfile
from tests.sources.monitored import *
from pumonitor.sources.column_types.monitored_tables import SqlTable, SqlQuery
def test_ch():
    import chdb
    p,l=predictions(text_ids=True),labels(text_ids=True)
    exp=opened(p,l).counts(REQUEST)
    print(p.dtypes)
    d=tempfile.mkdtemp()
    p.to_parquet(d+"/p.parquet"); l.to_parquet(d+"/l.parquet")
    c=chdb.connect(d+"/db")
    c.query("create database if not exists me"); 
    for n in "pl": c.query(f"create table default.{n} engine=MergeTree order by tuple() as select * from file('{d}/{n}.parquet', Parquet)")
    c.close()
    u=f"chdb:///{d}/db"
    for made,known in [(SqlTable(url=u,table="p"),SqlTable(url=u,table="l")),(SqlQuery(url=u,query="select * from p where scored_at>=:start and scored_at<:end"),SqlQuery(url=u,query="select * from l where confirmed_at<=:as_of")),(SqlTable(url=u,table="p"),l),(p,SqlTable(url=u,table="l"))]:
        s=opened(made,known); assert_equal(s.counts(REQUEST),exp); print(s.span(), s.describe().engine); s.close()
    with pytest.raises(Exception) as e: opened(SqlTable(url=u,table="q"),l)
    print(e.value)
