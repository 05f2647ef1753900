import { mock } from 'node:test';
import t from 'tap';
import { AppError } from '../../../../src/domain/errors.ts';
import { guardedSigner } from '../../../../src/signers/guarded-signer.ts';
import type { Signer } from '../../../../src/signers/signer.ts';
import { RecordedMetrics } from '../../../support/recorded-metrics.ts';

const CREDENTIAL = 'hunter2-token';

/** A guarded signer whose inner answers the test sets. */
function guarded(answers: Partial<Signer> = {}, limitMs: number | null = null, secrets = [CREDENTIAL]) {
  const inner: Signer = {
    id: 'vault-1',
    publicKey: async () => new Uint8Array(32),
    sign: async () => new Uint8Array(64),
    close: async () => {},
    ...answers,
  };
  const metrics = new RecordedMetrics();
  const signer = guardedSigner(inner, {
    kind: { type: 'vault', curves: ['ed25519'], limitMs },
    clock: { now: () => 0, elapsed: () => 5 },
    metrics,
    secrets: new Set(secrets),
  });
  return { signer, metrics };
}

t.test('a public key is asked for once, and nobody can change the one that is kept', async (t) => {
  let asks = 0;
  const publicKey = async () => {
    asks += 1;
    if (asks === 1) throw new Error('busy');
    return new Uint8Array(32);
  };
  const { signer, metrics } = guarded({ publicKey });
  await t.rejects(signer.publicKey('ed25519'), { code: 'SIGNER_FAILED', message: 'Signer vault-1 failed: busy' });
  (await signer.publicKey('ed25519')).fill(7);
  t.same(await signer.publicKey('ed25519'), new Uint8Array(32));
  t.equal(asks, 2, 'a failure is not kept');
  t.strictSame(metrics.of('signer_request_duration'), ['vault-1 vault failed', ' vault ok'], 'a key in this process');
});

t.test('each service is counted by itself', async (t) => {
  const { signer, metrics } = guarded({}, 10_000);
  await signer.publicKey('ed25519');
  t.strictSame(metrics.of('signer_request_duration'), ['vault-1 vault ok']);
});

t.test('a curve that the kind does not have is not asked for', async (t) => {
  const { signer, metrics } = guarded({ sign: () => Promise.reject(new Error('it was asked')) });
  const message = 'Signer vault-1 failed: a signer of type vault has no key on secp256k1';
  await t.rejects(signer.sign('secp256k1', new Uint8Array(32)), { code: 'SIGNER_FAILED', message });
  await t.rejects(signer.publicKey('secp256k1'), { message });
  t.strictSame(metrics.of('signer_request_duration'), []);
});

t.test('one that does not answer is waited for no longer than its kind allows', async (t) => {
  const { signer, metrics } = guarded({ sign: () => new Promise<Uint8Array>(() => {}) }, 20);
  const message = 'Signer vault-1 failed: no answer within 0.02 s';
  await t.rejects(signer.sign('ed25519', new Uint8Array(1)), { code: 'SIGNER_FAILED', message });
  t.strictSame(metrics.of('signer_request_duration'), ['vault-1 vault failed']);
});

t.test('a service is asked 32 things at once; the others wait their turn, within the same limit', async (t) => {
  let asked = 0;
  const { promise, resolve } = Promise.withResolvers<Uint8Array>();
  const sign = () => {
    asked += 1;
    return promise;
  };
  const { signer } = guarded({ sign }, 10_000);
  const all = Promise.all(Array.from({ length: 100 }, () => signer.sign('ed25519', new Uint8Array(1))));
  t.equal(asked, 32);
  resolve(new Uint8Array(64));
  t.equal((await all).length, 100);
  t.equal(asked, 100);

  asked = 0;
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const stuck = guarded({ sign: () => ((asked += 1), new Promise(() => {})) }, 20);
  const failed = Promise.allSettled(Array.from({ length: 33 }, () => stuck.signer.sign('ed25519', new Uint8Array(1))));
  mock.timers.tick(20);
  t.ok((await failed).every(({ status }) => status === 'rejected'));
  // At twice the limit the 32 places become free. The last call has given up by then, so it takes none.
  mock.timers.tick(20);
  await new Promise(setImmediate);
  t.equal(asked, 32, 'what nobody waits for any more is not asked');
});

t.test('what never ends takes no turn away for good', async (t) => {
  let hangs = 32;
  const sign = () => ((hangs -= 1) >= 0 ? new Promise<Uint8Array>(() => {}) : Promise.resolve(new Uint8Array(64)));
  const { signer } = guarded({ sign }, 20);
  const ask = () => signer.sign('ed25519', new Uint8Array(1)).catch(() => undefined);
  await Promise.all(Array.from({ length: 32 }, ask));
  let signed: Uint8Array | undefined;
  while (signed === undefined) signed = await ask();
  t.equal(signed.length, 64);
});

t.test('no credential shows in an error, nor in its cause', async (t) => {
  const told = Object.assign(new Error(`403 for Bearer ${CREDENTIAL}`), { headers: { authorization: CREDENTIAL } });
  const own = new AppError('SIGNER_FAILED', { id: 'vault-1', reason: 'sealed' }, { cause: told });
  for (const thrown of [told, own]) {
    const { signer } = guarded({ sign: () => Promise.reject(thrown) });
    const failure: unknown = await signer.sign('ed25519', new Uint8Array(1)).catch((error: unknown) => error);
    t.match(failure, { code: 'SIGNER_FAILED' });
    const { message, stack, cause } = failure as Error & { cause: Error };
    for (const text of [message, stack, cause.message, cause.stack]) t.notMatch(text, CREDENTIAL);
    t.notOk('headers' in cause);
  }
  const clean = new AppError('SIGNER_FAILED', { id: 'vault-1', reason: 'sealed' });
  const { signer } = guarded({ sign: () => Promise.reject(clean) });
  await t.rejects(signer.sign('ed25519', new Uint8Array(1)), clean);
});

t.test('a closed one signs nothing', async (t) => {
  const { signer } = guarded();
  await signer.close();
  await t.rejects(signer.sign('ed25519', new Uint8Array(1)), { message: 'Signer vault-1 failed: it is closed' });
});

t.test('a credential that begins with another one is masked whole', async (t) => {
  const sign = () => Promise.reject(new Error('who is relayer-4711?'));
  const { signer } = guarded({ sign }, null, ['relayer', 'relayer-4711']);
  await t.rejects(signer.sign('ed25519', new Uint8Array(1)), { message: 'Signer vault-1 failed: who is ***?' });
});
