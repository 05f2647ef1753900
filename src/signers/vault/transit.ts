import { z } from 'zod';
import { createRemoteSigner } from '../remote/remote-signer.ts';
import { REMOTE_LIMIT_MS, ServiceRefusal } from '../remote/service-client.ts';
import type { SignerKind } from '../signer.ts';
import { createVaultSession, type VaultSession, vaultFields, vaultPath } from './session.ts';

const configSchema = z.strictObject({
  ...vaultFields,
  pubkey: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, 'not 32 bytes in base64')
    .describe('Ed25519 public key of the key version that signs, in base64'),
});

const keySchema = z.object({
  data: z.object({ type: z.string(), keys: z.record(z.string(), z.object({ public_key: z.string() })) }),
});
const signedSchema = z.object({ data: z.object({ signature: z.string().regex(/^vault:v\d+:[A-Za-z0-9+/]+=*$/) }) });

/**
 * `vault_transit`: a key that never leaves the transit engine. After a rotation the engine has several versions of a
 * key. The version with the configured public key signs, as long as the engine allows it.
 */
export const vaultTransitSignerKind: SignerKind<z.output<typeof configSchema>> = {
  type: 'vault_transit',
  curves: ['ed25519'],
  configSchema,
  limitMs: REMOTE_LIMIT_MS,
  async create(id, config, tools) {
    const publicKey = Buffer.from(config.pubkey, 'base64');
    const session = createVaultSession(config, tools);
    const mount = vaultPath(config.mount_point ?? 'transit');
    const key = vaultPath(config.key_name);

    return createRemoteSigner(id, async () => {
      const version = await versionOf(session, `${mount}/keys/${key}`, config.pubkey);
      const wanted = version === undefined ? {} : { key_version: version };
      return {
        publicKey,
        async sign(message) {
          const body = { input: Buffer.from(message).toString('base64'), ...wanted };
          const { data } = await session.ask(`${mount}/sign/${key}`, signedSchema, body);
          return Buffer.from(data.signature.split(':')[2] ?? '', 'base64');
        },
      };
    });
  },
};

/**
 * The version with the configured public key. Undefined when the role may not read the key; then the newest version
 * signs.
 */
async function versionOf(session: VaultSession, path: string, pubkey: string): Promise<number | undefined> {
  const known = await session.ask(path, keySchema).catch((error: unknown) => {
    if (error instanceof ServiceRefusal && error.status === 403) return undefined;
    throw error instanceof ServiceRefusal && error.status === 404 ? new Error(`Vault has no key at ${path}`) : error;
  });
  if (known === undefined) return undefined;
  const { type, keys } = known.data;
  if (type !== 'ed25519') throw new Error(`the key at ${path} is of type ${type}, not ed25519`);
  const [version] = Object.entries(keys).find(([, { public_key }]) => public_key === pubkey) ?? [];
  if (version === undefined) throw new Error(`no version of the key at ${path} has the configured pubkey`);
  return Number(version);
}
