import { isOurCode, type Rule } from './rule.ts';

const LONGEST = 400;

/** A file that does not fit into a head holds more than one concept. */
export const fileLength: Rule = (files) =>
  files
    .filter(({ path }) => isOurCode(path))
    .map(({ path, text }) => ({ path, lines: text.split('\n').length - (text.endsWith('\n') ? 1 : 0) }))
    .filter(({ lines }) => lines > LONGEST)
    .map(({ path, lines }) => `${path} has ${lines} lines; ${LONGEST} is the limit.`);
