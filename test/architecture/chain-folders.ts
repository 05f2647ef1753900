import type { Rule } from './rule.ts';

/** What a family cannot do without. */
export const REQUIRED = [
  'address.ts',
  ...['family.ts', 'network.ts', 'networks.json', 'policy.ts'].map((name) => `configuration/${name}`),
  'index.ts',
  'schema.ts',
];

/** What else a family may have, under these names only. */
const KNOWN = new Set([
  ...REQUIRED,
  'broadcast.ts',
  'chain-identity.ts',
  'confirm.ts',
  'description.ts',
  'dialect.ts',
  'errors.ts',
  'fees.ts',
  'identity.ts',
  'prepare.ts',
  'programs.ts',
  'provider.ts',
  'replace.ts',
  'request.ts',
  'rpc.ts',
  'sequence.ts',
  'signing.ts',
  'spending.ts',
  'sponsor.ts',
  'swap.ts',
  'view.ts',
]);

/** Where a family keeps the parts of one of these: what is configured, of a request, of what is allowed, of what is in a block or signed, of prices, of tokens. */
const ROOMS = new Set(['configuration', 'form', 'guard', 'inclusion', 'message', 'price', 'sponsor', 'swap', 'tokens']);

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
      .filter((name) => !KNOWN.has(name) && !isInRoom(name))
      .map((name) => `src/chains/${chain}/${name} has a name that the chains do not share.`),
  ]);
};

function isInRoom(name: string): boolean {
  const [room, file] = name.split('/');
  return file !== undefined && ROOMS.has(room ?? '');
}
