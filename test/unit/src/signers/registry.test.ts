import t from 'tap';
import { z } from 'zod';
import { createSignerKinds, openKeyRing, openSigner, type SignerKinds } from '../../../../src/signers/registry.ts';
import { type Signer, type SignerKind, secretSchema } from '../../../../src/signers/signer.ts';
import { signerTools } from '../../../support/signer-tools.ts';

const kinds = createSignerKinds();
const open = (entry: { type: string; config: unknown }) => openSigner(kinds, { id: 'demo', ...entry }, signerTools());

t.test('says what is wrong with a declaration', async (t) => {
  const code = 'SIGNER_UNUSABLE';
  await t.rejects(open({ type: 'paper', config: {} }), {
    code,
    message:
      'Signer demo: there is no signer type "paper"; known: local, aws_kms, google_cloud_kms, azure_key_vault, vault, vault_transit, turnkey, cdp',
  });
  await t.rejects(open({ type: 'local', config: { path: 'a.json' } }), {
    code,
    message: /^Signer demo: config.passphrase: /,
  });
  await t.rejects(open({ type: 'local', config: null }), { code, message: /^Signer demo: config: / });
});

t.test('opens by kind', async (t) => {
  const config = { path: 'no-such-file.json', passphrase: { type: 'env', value: 'X' } };
  await t.rejects(open({ type: 'local', config }), {
    message:
      'Signer demo: there is no keystore at no-such-file.json; make one with `npm run isolayer -- keystore new no-such-file.json`',
  });
});

t.test('key ring', async (t) => {
  /** A signer that only records whether it was closed. */
  class ClosableSigner implements Signer {
    readonly id: string;
    closed = 0;

    constructor(id: string) {
      this.id = id;
    }

    async publicKey(): Promise<Uint8Array> {
      return new Uint8Array(32);
    }

    async sign(): Promise<Uint8Array> {
      return new Uint8Array(64);
    }

    async close(): Promise<void> {
      this.closed += 1;
    }
  }

  function kinds(opened: ClosableSigner[]): SignerKinds {
    const kind: SignerKind = {
      type: 'test',
      curves: ['ed25519'],
      configSchema: z.unknown(),
      limitMs: null,
      async create(id, config) {
        if (config === 'broken') throw new Error(`${id} is broken`);
        const signer = new ClosableSigner(id);
        opened.push(signer);
        return signer;
      },
    };
    return new Map([['test', kind]]);
  }

  t.test('every declared signer is there under its id', async (t) => {
    const opened: ClosableSigner[] = [];
    const ring = await openKeyRing(
      kinds(opened),
      [
        { id: 'a', type: 'test', config: {} },
        { id: 'b', type: 'test', config: {} },
      ],
      signerTools(),
    );
    t.equal(ring.signer('a').id, 'a');
    t.equal(ring.signer('b').id, 'b');
    t.throws(() => ring.signer('c'), /No signer c/);
    await ring.close();
    t.same(
      opened.map((signer) => signer.closed),
      [1, 1],
    );
  });

  t.test('all that cannot be opened are named at once, and the others are closed again', async (t) => {
    const opened: ClosableSigner[] = [];
    const failure = await openKeyRing(
      kinds(opened),
      [
        { id: 'a', type: 'test', config: 'broken' },
        { id: 'b', type: 'test', config: {} },
        { id: 'c', type: 'test', config: 'broken' },
        { id: 'd', type: 'no-such-type', config: {} },
      ],
      signerTools(),
    ).catch((error: unknown) => error);
    t.type(failure, AggregateError);
    const messages = (failure as AggregateError).errors.map((error: Error) => error.message);
    t.equal(messages.length, 3);
    t.match(messages[0], /a is broken/);
    t.match(messages[1], /c is broken/);
    t.match(messages[2], /d.*no-such-type/);
    t.equal(opened[0]?.closed, 1);
  });
});

t.test('a secret is a reference to the environment or plain text', async (t) => {
  const secret = { type: 'env', value: 'KEYSTORE_PASSPHRASE' };
  t.same(secretSchema.parse({ ...secret, note: 'ignored, as the reference does' }), secret);
  t.ok(secretSchema.safeParse({ type: 'plain', value: 'text' }).success);
  for (const bad of [{ type: 'file', value: 'x' }, { type: 'env', value: '' }, { type: 'env' }, 'text', null]) {
    t.notOk(secretSchema.safeParse(bad).success, JSON.stringify(bad));
  }
});
