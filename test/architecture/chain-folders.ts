import type { Rule } from './rule.ts';

const OPTIONAL = new Set(['sponsor.ts', 'swap.ts']);

/** All chains have the same files, so that whoever knows one knows all. */
export const chainFolders: Rule = (files) => {
  const folders = new Map<string, Set<string>>();
  for (const { path } of files) {
    const [, chain, file] = /^src\/chains\/([^/]+)\/(.+)$/.exec(path) ?? [];
    if (chain === undefined || file === undefined || OPTIONAL.has(file)) continue;
    folders.set(chain, (folders.get(chain) ?? new Set()).add(file));
  }

  const all = new Set([...folders.values()].flatMap((names) => [...names]));
  return [...folders].flatMap(([chain, names]) =>
    [...all]
      .filter((name) => !names.has(name))
      .map((name) => `src/chains/${chain}/${name} is missing; another chain has it.`),
  );
};
