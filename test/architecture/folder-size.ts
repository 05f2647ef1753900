import { dirname } from 'node:path';
import type { Rule } from './rule.ts';

/** The most files in one folder. More files need subfolders. */
const MOST = 22;

/** Finds source folders with too many files to read at a glance. */
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
