import { dirname, sep } from 'node:path';
import type { OnLoadResult, ResolveResult } from 'esbuild';

/** The namespace of the modules that stand for the plugin's own ethers. Their paths are those of the modules that ask. */
export const ETHERS_NAMESPACE = 'own-ethers';

/** Whether a module of the guest asks for the plugin's own ethers. */
export function isOwnEthers(specifier: string): boolean {
  return specifier === './own-ethers.ts';
}

interface Place {
  /** The folder of the plugin's entry. */
  folder: string;
  read: (file: string) => Promise<string | undefined>;
}

type Resolve = (name: string, folder: string) => Promise<ResolveResult>;

const PARTS = '@ethersproject/providers';

/**
 * A module with the parts of ethers that providers and signers need, and its version. Another host's scripts bring
 * ethers 5 or 6, as a whole or in parts, and their contracts take only providers and signers of the same one. Version 0:
 * there is none, which is fine until one is asked for. Gelato's library gives functions providers of version 5, whatever
 * else they import; Defender's gives those of the ethers that an Action has.
 */
export async function ownEthers(asking: string, resolve: Resolve, { folder, read }: Place): Promise<OnLoadResult> {
  const whole = async (): Promise<OnLoadResult | undefined> => {
    const { errors, path } = await resolve('ethers', folder);
    if (errors.length > 0) return undefined;
    const end = path.lastIndexOf(`${sep}node_modules${sep}ethers${sep}`);
    const manifest = end === -1 ? undefined : await read(`${path.slice(0, end)}/node_modules/ethers/package.json`);
    const isNew = /"version":\s*"6\./.test(manifest ?? '');
    const contents = isNew
      ? `export { AbstractSigner, JsonRpcProvider, Network, TransactionResponse } from 'ethers'; export const version = 6;`
      : `export { BigNumber, providers, Signer } from 'ethers'; export const version = 5;`;
    return { contents, resolveDir: folder };
  };
  const parts = async (): Promise<OnLoadResult | undefined> => {
    const { errors, path } = await resolve(PARTS, folder);
    if (errors.length > 0) return undefined;
    return {
      contents: `export * as providers from ${JSON.stringify(path)};
export { BigNumber } from '@ethersproject/bignumber';
export { Signer } from '@ethersproject/abstract-signer';
export const version = 5;`,
      // The other parts are packages that this one depends on.
      resolveDir: dirname(path),
    };
  };
  const found = asking.endsWith('gelato-sdk.ts')
    ? ((await parts()) ?? (await whole()))
    : ((await whole()) ?? (await parts()));
  return found ?? { contents: 'export const version = 0;' };
}
