import type { Rule } from './rule.ts';

const BANNED = new Set(['util', 'utils', 'helper', 'helpers', 'common', 'misc', 'shared', 'manager', 'managers']);

/** Finds files and folders with names that say nothing about their content. */
export const bannedNames: Rule = (files) =>
  files
    .filter(({ path }) => path.endsWith('.ts'))
    .flatMap(({ path }) =>
      path
        .split('/')
        .filter((part) => bannedWord(part) !== undefined)
        .map((part) => `${path}: "${bannedWord(part)}" says nothing; name the concept.`),
    );

function bannedWord(part: string): string | undefined {
  return part
    .replace(/(\.d|\.test)?\.ts$/, '')
    .split(/[-_.]/)
    .find((word) => BANNED.has(word.toLowerCase()));
}
