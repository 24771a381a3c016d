// What the interactive chart of the pages needs of Vega, as one global name.
export { View, Warn, parse } from "vega";
export { compile } from "vega-lite";
export { expressionInterpreter } from "vega-interpreter";
