import type { Rule } from './rule.ts';

/** What a family cannot do without. */
const REQUIRED = ['address.ts', 'index.ts', 'networks.json', 'policy.ts', 'schema.ts'];

/** What else a family may have, under these names only. */
const KNOWN = new Set([
  ...REQUIRED,
  'access-list.ts',
  'authorization.ts',
  'broadcast.ts',
  'confirm.ts',
  'error-abi.ts',
  'errors.ts',
  'fees.ts',
  'gas.ts',
  'identity.ts',
  'integer.ts',
  'market.ts',
  'message.ts',
  'prepare.ts',
  'provider.ts',
  'replace.ts',
  'request.ts',
  'revert.ts',
  'rollup.ts',
  'rpc.ts',
  'sequence.ts',
  'signing.ts',
  'sponsor.ts',
  'swap.ts',
  'typed-data.ts',
  'unsent.ts',
  'valid-until.ts',
  'view.ts',
]);

/** The same thing has the same name in all chains, so that whoever knows one knows all; none has empty places. */
export const chainFolders: Rule = (files) => {
  const folders = new Map<string, string[]>();
  for (const { path } of files) {
    const [, chain, file] = /^src\/chains\/([^/]+)\/(.+)$/.exec(path) ?? [];
    if (chain === undefined || file === undefined) continue;
    folders.set(chain, [...(folders.get(chain) ?? []), file]);
  }

  return [...folders].flatMap(([chain, names]) => [
    ...REQUIRED.filter((name) => !names.includes(name)).map(
      (name) => `src/chains/${chain}/${name} is missing; every chain has it.`,
    ),
    ...names
      .filter((name) => !KNOWN.has(name))
      .map((name) => `src/chains/${chain}/${name} has a name that the chains do not share.`),
  ]);
};
