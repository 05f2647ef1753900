import { dirname } from 'node:path';
import type { Rule } from './rule.ts';

/** About twenty: what is more has rooms. */
const MOST = 22;

/** A folder of the sources is taken in at one look. */
export const folderSize: Rule = (files) => {
  const sizes = new Map<string, number>();
  for (const { path } of files) {
    if (!/^(src|sandbox)\//.test(path)) continue;
    sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
  }
  return [...sizes]
    .filter(([, size]) => size > MOST)
    .map(([folder, size]) => `${folder} has ${size} files; give what belongs together a room of its own.`);
};
