/**
 * Packages that come as hundreds of modules, or that load such packages. Whatever a process loads of one is named here:
 * two ways to the same class would otherwise be two classes.
 */
export const PACKAGES: readonly string[] = [
  '@stellar/stellar-sdk',
  '@stellar/stellar-sdk/base',
  'ethers',
  'ethers/abi',
  'ethers/address',
  'ethers/hash',
  'ethers/utils',
  'fastify',
  'fastify-type-provider-zod',
  'kysely',
  'pino',
  'prom-client',
  'undici',
  'zod',
  'zod/v4/core',
];
