// Real CSV files, from npm's vega-datasets.
import { join } from "node:path";
import { root } from "./build.js";

/** dataset is the path of one of them, such as "stocks.csv". */
export const dataset = (name) => join(root, "node_modules/vega-datasets/data", name);
