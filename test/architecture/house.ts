import { noBarrels } from './barrels.ts';
import { baseNames } from './base-names.ts';
import { chainFolders } from './chain-folders.ts';
import { fileLength } from './file-length.ts';
import { folderSize } from './folder-size.ts';
import { honestTests, strayTests } from './honest-tests.ts';
import { exactVersions, lockfileKnowsAllPlatforms, lockfileNamesNoRegistry } from './lockfile.ts';
import { mirroredTests, staleExemptions } from './mirrored-tests.ts';
import { bannedNames } from './names.ts';
import { neutralWords } from './neutral-words.ts';
import { noMachinePaths } from './portable.ts';
import type { Rule } from './rule.ts';

/** The project's own rules. No other tool checks them. */
export const houseRules: Readonly<Record<string, Rule>> = {
  fileLength,
  folderSize,
  bannedNames,
  neutralWords,
  baseNames,
  noBarrels,
  mirroredTests,
  staleExemptions,
  chainFolders,
  honestTests,
  strayTests,
  noMachinePaths,
  lockfileNamesNoRegistry,
  lockfileKnowsAllPlatforms,
  exactVersions,
};
