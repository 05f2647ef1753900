import { basename } from 'node:path';
import type { Rule } from './rule.ts';

/** A layer: a folder of a chain or of the guest, and elsewhere a folder directly below `src` or `sandbox`. */
const LAYER = /^(?:src\/chains\/(?:[^/]+\/){0,2}|sandbox\/guest\/(?:[^/]+\/)?|(?:src|sandbox)\/(?:[^/]+\/)?)/;

/** Finds two files with the same base name in one layer. A base name must lead to one file. */
export const baseNames: Rule = (files) => {
  const first = new Map<string, string>();
  return files.flatMap(({ path }) => {
    const layer = LAYER.exec(path)?.[0];
    if (layer === undefined) return [];
    const place = `${layer}${basename(path)}`;
    const other = first.get(place);
    if (other === undefined) first.set(place, path);
    return other === undefined ? [] : [`${path} is called like ${other}; name what sets it apart.`];
  });
};
