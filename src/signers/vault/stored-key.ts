import { z } from 'zod';
import { REMOTE_LIMIT_MS, ServiceRefusal } from '../remote/service-client.ts';
import type { Signer, SignerKind } from '../signer.ts';
import { createVaultSession, type VaultConfig, type VaultSession, vaultFields, vaultPath } from './session.ts';

const configSchema = z.strictObject(vaultFields);

/** For a deleted version, the inner `data` is null. */
const secretSchema = z.object({ data: z.object({ data: z.object({ value: z.unknown().optional() }).nullable() }) });

/** `vault`: a key in a KV v2 engine, read when it is first needed and used in this process from then on. */
export const vaultSignerKind: SignerKind<VaultConfig> = {
  type: 'vault',
  curves: ['secp256k1', 'ed25519'],
  configSchema,
  limitMs: REMOTE_LIMIT_MS,
  async create(id, config, tools) {
    const session = createVaultSession(config, tools);
    const path = `${vaultPath(config.mount_point ?? 'secret')}/data/${vaultPath(config.key_name)}`;
    let opening: Promise<Signer> | undefined;

    function opened(): Promise<Signer> {
      if (opening === undefined) {
        opening = tools.keys.open(id, async () => ({ kind: 'key', bytes: await readKey(session, path) }));
        opening.catch(() => {
          opening = undefined;
        });
      }
      return opening;
    }

    return {
      id,
      publicKey: async (curve) => (await opened()).publicKey(curve),
      sign: async (curve, payload) => (await opened()).sign(curve, payload),
      async close() {
        await opening?.then((signer) => signer.close()).catch(() => undefined);
      },
    };
  },
};

async function readKey(session: VaultSession, path: string): Promise<Uint8Array> {
  const { data } = await session.ask(path, secretSchema).catch((error: unknown) => {
    throw error instanceof ServiceRefusal && error.status === 404 ? new Error(`Vault has no secret at ${path}`) : error;
  });
  const value = data.data?.value;
  if (typeof value !== 'string' || value.trim() === '') throw new Error(`the secret at ${path} has no text in "value"`);
  const digits = value.trim().replace(/^0[xX]/, '');
  if (!/^[0-9a-fA-F]*$/.test(digits)) throw new Error(`"value" at ${path} is not hexadecimal`);
  if (digits.length !== 64) throw new Error(`"value" at ${path} has ${digits.length} digits; a key has 64`);
  return Uint8Array.fromHex(digits);
}
