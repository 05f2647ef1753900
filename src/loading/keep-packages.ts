/** The program that keeps the packages as a few files, for the starts that follow. */
import { bundlePackages } from './bundle-packages.ts';
import { readKept, writeKept } from './kept-packages.ts';

if (readKept() === undefined) writeKept(await bundlePackages());
