import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { createSecretResolver, type Variables } from '../../../../src/settings/secrets.ts';
import { awsKmsSignerKind, ReplaceableClient } from '../../../../src/signers/aws-kms.ts';
import type { Curve } from '../../../../src/signers/signer.ts';
import { signerTools } from '../../../support/signer-tools.ts';
import { startAwsKms } from '../../../support/signers/aws-kms-double.ts';

async function scene(t: Test, curve: Curve = 'secp256k1') {
  const double = await startAwsKms(curve);
  t.teardown(() => double.service.stop());
  const open = async (change: object = {}, variables: Variables = double.environment ?? {}) => {
    const config = awsKmsSignerKind.configSchema.parse({ ...double.config, ...change });
    const tools = signerTools('', { secrets: createSecretResolver(variables) });
    const signer = await awsKmsSignerKind.create('one', config, tools);
    t.teardown(() => signer.close());
    return signer;
  };
  return { ...double, open };
}

t.test('the key is asked for once, by its id, its ARN or an alias', async (t) => {
  const { service, publicKey, open } = await scene(t);
  const signer = await open();
  for (const digest of [randomBytes(32), randomBytes(32)]) await signer.sign('secp256k1', digest);
  t.same(await signer.publicKey('secp256k1'), publicKey);
  t.strictSame(
    service.asked.map(({ headers }) => headers['x-amz-target']),
    ['TrentService.GetPublicKey', 'TrentService.Sign', 'TrentService.Sign'],
  );
  const elsewhere = await open({ key_id: 'alias/other' });
  await t.rejects(elsewhere.publicKey('secp256k1'), {
    message: "AWS KMS in eu-central-1 answered 400: NotFoundException: Key 'alias/other' does not exist",
  });
});

t.test('a key of another type is called by it', async (t) => {
  const { open } = await scene(t, 'ed25519');
  await t.rejects((await open()).publicKey('secp256k1'), {
    message: 'its key is on ed25519, and is asked to sign on secp256k1',
  });
});

t.test('what the service says is passed on, and nothing of what it was sent', async (t) => {
  const { open, faults, environment = {} } = await scene(t);
  const signer = await open();
  await signer.publicKey('secp256k1');
  faults.refusal = ['DisabledException', 'arn:aws:kms:… is disabled.'];
  const failure: unknown = await signer.sign('secp256k1', randomBytes(32)).catch((error: unknown) => error);
  t.match(failure, { message: 'AWS KMS in eu-central-1 answered 400: DisabledException: arn:aws:kms:… is disabled.' });
  t.notOk((failure as Error).cause, 'the client keeps the request in its errors');
  faults.refusal = undefined;
  const stranger = await open({}, { ...environment, AWS_SECRET_ACCESS_KEY: 'another' });
  await t.rejects(stranger.publicKey('secp256k1'), { message: /answered 400: InvalidSignatureException: / });
  await t.rejects(signer.sign('ed25519', randomBytes(4_097)), { message: /its key is on secp256k1/ });
});

t.test('credentials that are not in the configuration are looked for as every client of AWS does', async (t) => {
  const { open, environment = {} } = await scene(t);
  const before = { ...process.env };
  t.teardown(() => {
    for (const name of Object.keys(environment)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  });
  Object.assign(process.env, environment);
  const signer = await open({}, {});
  t.equal((await signer.sign('secp256k1', randomBytes(32))).length, 65);
});

t.test('the entry of the reference, and no more', (t) => {
  const entry = { region: 'us-east-1', key_id: 'alias/a' };
  t.ok(awsKmsSignerKind.configSchema.safeParse(entry).success);
  for (const bad of [{ ...entry, region: '' }, { region: 'a' }, { ...entry, key: 'a' }, { ...entry, endpoint: 'a' }]) {
    t.notOk(awsKmsSignerKind.configSchema.safeParse(bad).success, JSON.stringify(bad));
  }
  t.end();
});

t.test('renewed client', async (t) => {
  /** Searches for credentials once and keeps the result, as vendors' clients do. */
  class SearchingClient {
    readonly #search: () => Promise<string>;
    #found: Promise<string> | undefined;

    constructor(search: () => Promise<string>) {
      this.#search = search;
    }

    async send(): Promise<{ by: string }> {
      this.#found ??= this.#search();
      return { by: await this.#found };
    }
  }

  t.test('a client whose first search for credentials hangs is made anew', async (t) => {
    let searches = 0;
    const search = () => {
      searches += 1;
      return searches === 1 ? new Promise<string>(() => {}) : Promise.resolve(`search ${searches}`);
    };
    const clients = new ReplaceableClient(() => new SearchingClient(search), 50);
    const ask = () => clients.ask((client) => client.send());
    await t.rejects(ask(), { message: 'no answer within 0.05 s' });
    t.strictSame(await ask(), { by: 'search 2' });
    t.strictSame(await ask(), { by: 'search 2' }, 'and stays');
  });

  t.test('an answer and an error are passed on, by the same client', async (t) => {
    let made = 0;
    const clients = new ReplaceableClient(() => ({ number: ++made }), 60_000);
    t.strictSame(await clients.ask(async (client) => client), { number: 1 });
    await t.rejects(
      clients.ask(() => Promise.reject(new Error('refused'))),
      { message: 'refused' },
    );
    t.equal(clients.current.number, 1);
  });

  t.test('questions that hang together make one client anew', async (t) => {
    let made = 0;
    const clients = new ReplaceableClient(() => ({ number: ++made }), 1);
    const hung = () => clients.ask(() => new Promise<object>(() => {}));
    await Promise.all([t.rejects(hung()), t.rejects(hung()), t.rejects(hung())]);
    t.equal(clients.current.number, 2);
  });
});
