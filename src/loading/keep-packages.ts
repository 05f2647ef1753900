/** The program that bundles the packages into a few files, for later starts. */
import { bundlePackages } from './bundle-packages.ts';
import { readKept, writeKept } from './kept-packages.ts';

if (readKept() === undefined) writeKept(await bundlePackages());
