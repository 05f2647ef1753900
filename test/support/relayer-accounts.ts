import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encryptKeystoreJson, Wallet } from 'ethers';
import type { Anvil } from './anvil.ts';
import type { Workspace } from './workspace.ts';

/** A relayer of the configuration and the account that it sends from. */
export interface RelayerAccount {
  readonly relayerId: string;
  /** Lower case. */
  readonly address: string;
  readonly privateKey: string;
}

/**
 * Declares relayers `relayer-0`, `relayer-1` … on network `local` in place of the workspace's own, over so many funded
 * accounts in turn: with more relayers than accounts, some share one.
 */
export async function declareRelayers(
  workspace: Workspace,
  anvil: Anvil,
  { relayers, accounts = relayers }: { relayers: number; accounts?: number },
): Promise<RelayerAccount[]> {
  const folder = join(workspace.dir, 'config');
  const wallets = Array.from({ length: accounts }, () => Wallet.createRandom());
  const signers = await Promise.all(
    wallets.map(async ({ address, privateKey }, index) => {
      const path = join(folder, 'keys', `key-${index}.json`);
      const passphrase = workspace.env['KEYSTORE_PASSPHRASE'] ?? '';
      const scrypt = { N: 1024, r: 8, p: 1 };
      await writeFile(path, await encryptKeystoreJson({ address, privateKey }, passphrase, { scrypt }));
      await anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 22n).toString(16)}`]);
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
  }));
  await writeFile(
    join(folder, 'config.json'),
    JSON.stringify({ relayers: declared, signers, notifications: [], plugins: [] }),
  );
  return declared.flatMap(({ id }, index) => {
    const wallet = wallets[index % accounts];
    if (wallet === undefined) return [];
    return [{ relayerId: id, address: wallet.address.toLowerCase(), privateKey: wallet.privateKey }];
  });
}
