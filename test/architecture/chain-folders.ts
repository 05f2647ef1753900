import type { Rule } from './rule.ts';

/** What a family cannot do without. */
const REQUIRED = ['address.ts', 'index.ts', 'networks.json', 'policy.ts', 'schema.ts'];

/** What else a family may have, under these names only. */
const KNOWN = new Set([
  ...REQUIRED,
  'broadcast.ts',
  'confirm.ts',
  'errors.ts',
  'fees.ts',
  'identity.ts',
  'message.ts',
  'prepare.ts',
  'provider.ts',
  'replace.ts',
  'request.ts',
  'rpc.ts',
  'sequence.ts',
  'signing.ts',
  'sponsor.ts',
  'swap.ts',
  'unsent.ts',
  'view.ts',
]);

/** What only one family has anything like, by its own field's names. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  evm: [
    'access-list.ts',
    'admission.ts',
    'authorization.ts',
    'belief.ts',
    'body-search.ts',
    'displacement.ts',
    'each-endpoint.ts',
    'empty-version.ts',
    'error-abi.ts',
    'form.ts',
    'gas.ts',
    'head-floor.ts',
    'integer.ts',
    'market.ts',
    'nonce-use.ts',
    'receipts.ts',
    'revert.ts',
    'rollup.ts',
    'second-opinion.ts',
    'spending.ts',
    'typed-data.ts',
    'valid-until.ts',
    'version-price.ts',
  ],
};

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
      .filter((name) => !KNOWN.has(name) && OWN[chain]?.includes(name) !== true)
      .map((name) => `src/chains/${chain}/${name} has a name that the chains do not share.`),
  ]);
};
