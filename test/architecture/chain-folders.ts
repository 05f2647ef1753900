import type { Rule } from './rule.ts';

/** The files that every chain family has. */
export const REQUIRED = [
  'address.ts',
  ...['family.ts', 'network.ts', 'networks.json', 'policy.ts'].map((name) => `configuration/${name}`),
  'index.ts',
  'schema.ts',
];

/** The files that a chain family may have. */
const KNOWN = new Set([
  ...REQUIRED,
  'account-history.ts',
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

/** The folders that a chain family may have. Their files may have any name. */
const ROOMS = new Set(['configuration', 'form', 'guard', 'inclusion', 'message', 'price', 'sponsor', 'swap', 'tokens']);

/** Finds files of a chain family that are missing, or whose names the families do not share. */
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
