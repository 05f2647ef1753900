import { inspect } from 'node:util';
import t from 'tap';
import { z } from 'zod';
import {
  clientSignerKinds,
  readSignerForm,
  signerConfigView,
  signerCreateSchema,
  signerTypeView,
} from '../../../../../src/features/signers/signer-form.ts';
import { createSignerKinds } from '../../../../../src/signers/registry.ts';
import { type SignerKind, secretSchema } from '../../../../../src/signers/signer.ts';

function kindOf(type: string, shape: z.ZodRawShape): SignerKind {
  return {
    type,
    curves: ['secp256k1'],
    configSchema: z.strictObject(shape),
    limitMs: null,
    create: async () => {
      throw new Error('nobody opens it here');
    },
  };
}

/** A typical kind: described secrets, one of them nested, and optional fields. */
const VAULT = kindOf('vault', {
  address: z.url(),
  role_id: secretSchema.describe('Of the role'),
  account: z.strictObject({ name: z.string(), private_key: secretSchema }),
  namespace: z.string().nullish(),
  note: z.string().optional(),
  version: z.int().default(1),
});
const AZURE = {
  ...kindOf('azure_key_vault', {
    vault_url: z.url(),
    tenant_id: secretSchema.optional(),
    authority_host: z.url().optional(),
  }),
  ofFilesOnly: ['authority_host'],
  shownAllTheSame: ['tenant_id'],
};
const kinds = clientSignerKinds(new Map([...createSignerKinds(), ['vault', VAULT], ['azure_key_vault', AZURE]]));

const KEY = '01'.repeat(32);
const CONFIG = {
  address: 'https://vault.example',
  role_id: 'the role',
  account: { name: 'a', private_key: 'the key' },
};

t.test('clients hand over keys and name services, and no keystore of this machine', (t) => {
  t.ok(kinds.has('plain'));
  t.notOk(kinds.has('local'));
  t.throws(() => readSignerForm({ type: 'local', config: { path: '/etc/passwd', passphrase: 'x' } }, kinds), {
    code: 'INVALID_REQUEST',
    message: /^type: a signer of type local is a keystore of the operator; /,
  });
  t.end();
});

t.test('each secret is a text, and is kept as a file would have it', (t) => {
  const { id, kind, config } = readSignerForm({ id: 'k', type: 'vault', config: CONFIG }, kinds);
  t.strictSame([id, kind.type], ['k', 'vault']);
  t.strictSame(config, {
    address: 'https://vault.example',
    role_id: { type: 'plain', value: 'the role' },
    account: { name: 'a', private_key: { type: 'plain', value: 'the key' } },
    version: 1,
  });
  t.match(readSignerForm({ type: 'plain', config: { key: KEY } }, kinds), {
    id: undefined,
    config: { key: { type: 'plain', value: KEY } },
  });
  t.match(readSignerForm({ type: 'vault', config: { ...CONFIG, namespace: null } }, kinds), {
    config: { address: CONFIG.address },
  });
  t.end();
});

t.test('what is wrong is refused with its place, and without the secret', (t) => {
  for (const [body, message] of [
    [{}, /^type: missing/],
    [{ type: 'vaul', config: {} }, 'type: there is no signer type "vaul"; Did you mean "vault"?'],
    [{ type: 'near', config: {} }, /^type: there is no signer type "near"; known: .*plain/],
    [{ type: 'plain' }, /^config: missing/],
    [{ type: 'plain', config: { key: `0x${KEY}` } }, /^config\.key: Invalid hex key format/],
    [{ type: 'plain', config: { key: { type: 'env', value: 'API_KEY' } } }, /^config\.key: /],
    [{ type: 'plain', config: { key: KEY }, id: 'a b' }, /^id: ID must contain/],
    [{ type: 'plain', config: { key: KEY }, name: 'x' }, /^unknown field `name`/],
    [{ type: 'vault', config: { ...CONFIG, roleId: 'x' } }, /^config: unknown field `roleId`, did you mean `role_id`/],
    [{ type: 'vault', config: { ...CONFIG, address: 'x' } }, /^config\.address: /],
    [{ type: 'vault', config: { ...CONFIG, role_id: '' } }, /^config\.role_id: must not be empty/],
    [
      { type: 'azure_key_vault', config: { vault_url: 'https://a.example', authority_host: 'https://b.example' } },
      /authority_host/,
    ],
    [null, /^the body: /],
  ] as const) {
    t.throws(
      () => readSignerForm(body, kinds),
      { code: 'INVALID_REQUEST', message },
      JSON.stringify(body).replaceAll(KEY, 'KEY'),
    );
  }
  const fault = (() => {
    try {
      return readSignerForm({ type: 'plain', config: { key: `${KEY}zz` } }, kinds);
    } catch (error) {
      return error;
    }
  })();
  t.notMatch(inspect(fault, { depth: 9 }), KEY);
  t.end();
});

t.test('answers show what is no secret, and null for what may be there and is not', (t) => {
  const { config } = readSignerForm({ type: 'vault', config: CONFIG }, kinds);
  t.strictSame(signerConfigView(VAULT, config), {
    address: 'https://vault.example',
    account: { name: 'a' },
    namespace: null,
    version: 1,
  });
  const azure = readSignerForm(
    { type: 'azure_key_vault', config: { vault_url: 'https://a.example', tenant_id: 'me' } },
    kinds,
  );
  t.strictSame(signerConfigView(AZURE, azure.config), { vault_url: 'https://a.example', tenant_id: 'me' });
  t.strictSame(signerConfigView(AZURE, { vault_url: 'https://a', tenant_id: { type: 'env', value: 'TENANT' } }), {
    vault_url: 'https://a',
    tenant_id: null,
  });
  const local = createSignerKinds().get('local');
  t.strictSame(local && signerConfigView(local, { path: '/keys/one.json' }), {}, 'no path of this machine');
  t.strictSame([signerTypeView('plain'), signerTypeView('vault')], ['local', 'vault']);
  t.end();
});

t.test('every kind that the service knows can be described', (t) => {
  for (const kind of clientSignerKinds(createSignerKinds()).values()) {
    const text = JSON.stringify(z.toJSONSchema(signerCreateSchema(kind), { io: 'input', unrepresentable: 'any' }));
    t.notMatch(text, /"env"/, kind.type);
  }
  t.end();
});
