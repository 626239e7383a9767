// Real CSV files from the npm package vega-datasets.
import { join } from "node:path";
import { root } from "./build.js";

/** dataset returns the path of a file, such as "stocks.csv". */
export const dataset = (name) => join(root, "node_modules/vega-datasets/data", name);
