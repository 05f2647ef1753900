import { noBarrels } from './barrels.ts';
import { chainFolders } from './chain-folders.ts';
import { honestTests, strayTests } from './honest-tests.ts';
import { exactVersions, lockfileKnowsAllPlatforms, lockfileNamesNoRegistry } from './lockfile.ts';
import { bannedNames } from './names.ts';
import { noMachinePaths } from './portable.ts';
import type { Rule } from './rule.ts';

/** The project's own rules. No other tool checks them. */
export const houseRules: Readonly<Record<string, Rule>> = {
  bannedNames,
  noBarrels,
  chainFolders,
  honestTests,
  strayTests,
  noMachinePaths,
  lockfileNamesNoRegistry,
  lockfileKnowsAllPlatforms,
  exactVersions,
};
