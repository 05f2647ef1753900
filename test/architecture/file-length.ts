import { isOurCode, type Rule } from './rule.ts';

const LONGEST = 400;

/** Finds files that are too long. A file should hold one concept. */
export const fileLength: Rule = (files) =>
  files
    .filter(({ path }) => isOurCode(path))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0) }))
    .filter(({ lines }) => lines > LONGEST)
    .map(({ path, lines }) => `${path} has ${lines} lines; ${LONGEST} is the limit.`);
