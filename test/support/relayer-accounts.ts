import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encryptKeystoreJson, type HDNodeWallet, Wallet } from 'ethers';
import type { Anvil } from './anvil.ts';
import type { Workspace } from './workspace.ts';

/** A relayer of the configuration and the account that it sends from. */
export interface RelayerAccount {
  readonly relayerId: string;
  /** Lower case. */
  readonly address: string;
  readonly privateKey: string;
}

export interface DeclaredRelayers {
  relayers: number;
  /** The number of accounts that the relayers share in turn. Default: one account for each relayer. */
  accounts?: number;
  /** Merged into each relayer. */
  relayer?: object;
}

/**
 * Declares relayers `relayer-0`, `relayer-1` … on network `local`, in place of the workspace's own. They use `accounts`
 * funded accounts in turn. With more relayers than accounts, some share one.
 */
export async function declareRelayers(
  workspace: Workspace,
  anvil: Anvil,
  declared: DeclaredRelayers,
): Promise<RelayerAccount[]> {
  const relayers = await declareOverKeys(workspace, declared);
  const accounts = relayers.map(({ relayerId, key: { address, privateKey } }) => ({
    relayerId,
    address: address.toLowerCase(),
    privateKey,
  }));
  for (const address of new Set(accounts.map((account) => account.address))) {
    await anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 22n).toString(16)}`]);
  }
  return accounts;
}

/** Declares relayers of any family, without funds. A signer's secret is 32 bytes, whatever curve its relayers need. */
export async function declareOverKeys(
  workspace: Workspace,
  { relayers, accounts = relayers, relayer = {} }: DeclaredRelayers,
): Promise<{ relayerId: string; key: HDNodeWallet }[]> {
  const folder = join(workspace.dir, 'config');
  const keys = Array.from({ length: accounts }, () => Wallet.createRandom());
  const signers = await Promise.all(
    keys.map(async ({ address, privateKey }, index) => {
      const path = join(folder, 'keys', `key-${index}.json`);
      const passphrase = workspace.env['KEYSTORE_PASSPHRASE'] ?? '';
      const scrypt = { N: 1024, r: 8, p: 1 };
      await writeFile(path, await encryptKeystoreJson({ address, privateKey }, passphrase, { scrypt }));
      const secret = { type: 'env', value: 'KEYSTORE_PASSPHRASE' };
      return { id: `key-${index}`, type: 'local', config: { path, passphrase: secret } };
    }),
  );
  const declared = Array.from({ length: relayers }, (_, index) => ({
    id: `relayer-${index}`,
    name: `Relayer ${index}`,
    network: 'local',
    network_type: 'evm',
    signer_id: `key-${index % accounts}`,
    paused: false,
    ...relayer,
  }));
  await writeFile(
    join(folder, 'config.json'),
    JSON.stringify({ relayers: declared, signers, notifications: [], plugins: [] }),
  );
  return declared.flatMap(({ id }, index) => {
    const key = keys[index % accounts];
    return key === undefined ? [] : [{ relayerId: id, key }];
  });
}
