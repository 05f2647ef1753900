import { basename } from 'node:path';
import type { Rule } from './rule.ts';

/** Rooms of a chain and of the guest show the same things from several sides; elsewhere a layer has one side. */
const LAYER = /^(?:src\/chains\/(?:[^/]+\/){0,2}|sandbox\/guest\/(?:[^/]+\/)?|(?:src|sandbox)\/(?:[^/]+\/)?)/;

/** In one layer a base name stands for one thing, so that whoever looks for a file by its name finds one. */
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
