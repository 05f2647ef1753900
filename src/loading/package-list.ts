/**
 * Packages that consist of hundreds of modules, or that load such packages. Each entry point that a process loads must
 * be named here. Otherwise the process would load the same class twice, as two classes.
 */
export const PACKAGES: readonly string[] = [
  '@stellar/stellar-sdk',
  '@stellar/stellar-sdk/base',
  'ethers',
  'ethers/abi',
  'ethers/address',
  'ethers/crypto',
  'ethers/hash',
  'ethers/transaction',
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
