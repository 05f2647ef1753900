import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { computeAddress, hexlify, recoverAddress } from 'ethers';
import type { Test } from 'tap';
import { systemClock } from '../../../src/domain/clock.ts';
import { isObject, type JsonObject } from '../../../src/domain/json/json.ts';
import type { NetworkType } from '../../../src/domain/network-type.ts';
import type { HttpClient } from '../../../src/egress/http-client.ts';
import { createSignerHttp } from '../../../src/egress/signer-http.ts';
import { createSecretResolver } from '../../../src/settings/secrets.ts';
import { RestartingKeyThread } from '../../../src/signers/keys/key-worker.ts';
import { rawKeySignerKind } from '../../../src/signers/raw-key.ts';
import {
  createSignerKinds,
  openSigner,
  type SignerDeclaration,
  type SignerKinds,
} from '../../../src/signers/registry.ts';
import type { Curve, KindTools, Signer } from '../../../src/signers/signer.ts';
import { RecordedMetrics } from '../recorded-metrics.ts';
import type { SignerDouble } from './signer-double.ts';
import { familiesOf, isSigned, servesFamily } from './signer-families.ts';

/** Something with one key that a signer can use: a service, or a key file in this process. */
export interface SignerSubject
  extends Pick<SignerDouble, 'type' | 'curve' | 'publicKey' | 'config' | 'environment' | 'secrets' | 'payload'> {
  readonly service?: SignerDouble['service'];
}

const AT_ONCE = 16;

/** All signer kinds, wherever their signers are made. */
const KINDS: SignerKinds = new Map([...createSignerKinds(), [rawKeySignerKind.type, rawKeySignerKind]]);

/** The signers that a test has opened, and all of their output. */
interface Opened {
  signer: Signer;
  metrics: RecordedMetrics;
  /** Returns the error of a request. */
  failureOf(asked: Promise<unknown>): Promise<unknown>;
  /** Fails if a secret is in an error or in anything that can be printed. */
  showsNoSecret(t: Test): void;
}

async function open(
  t: Test,
  subject: SignerSubject,
  http = signerHttp(t),
  environment: ReadonlyMap<string, string> = new Map(Object.entries(subject.environment ?? {})),
): Promise<Opened> {
  const metrics = new RecordedMetrics();
  const errors: unknown[] = [];
  const keeper = new RestartingKeyThread();
  t.teardown(() => keeper.close());
  const tools: KindTools = {
    secrets: createSecretResolver(Object.fromEntries(environment)),
    http,
    identity: http,
    clock: systemClock,
    random: () => 0,
    metrics,
    keys: keeper,
    reread: async () => subject.config,
  };
  const signer = await openSigner(KINDS, { id: 'one', ...subject }, tools);
  t.teardown(() => signer.close());
  return {
    signer,
    metrics,
    async failureOf(asked) {
      const error = await asked.then(
        () => new Error('it did not fail'),
        (reason: unknown) => reason,
      );
      errors.push(error);
      return error;
    },
    showsNoSecret(t) {
      const shown = [...errors, signer].map((one) => inspect(one, { depth: 12, showHidden: true })).join('\n');
      for (const secret of subject.secrets()) t.notOk(shown.includes(secret), `${secret.slice(0, 12)}… shows nowhere`);
    },
  };
}

/** The HTTP connections that all signers of a service share. */
function signerHttp(t: Test): HttpClient {
  const http = createSignerHttp();
  t.teardown(() => http.close());
  return http;
}

/** Tests what every kind does, wherever its key is. Returns the families that it was shown to serve. */
export async function signsForFamilies(t: Test, subject: SignerSubject): Promise<NetworkType[]> {
  const { type, curve } = subject;
  const served: NetworkType[] = [];
  await t.test(`${type} on ${curve}`, async (t) => {
    const { signer, metrics, failureOf, showsNoSecret } = await open(t, subject);
    const kind = KINDS.get(type);
    if (kind?.curvesOf !== undefined) t.strictSame(kind.curvesOf(subject.config), [curve]);
    for (const family of familiesOf(kind ?? {}, curve)) {
      await t.test(`address and signatures on ${family}`, async (t) => {
        await servesFamily(t, family, signer, subject);
        if (t.passing()) served.push(family);
      });
    }
    await t.test(`${AT_ONCE} at once`, async (t) => {
      const payloads = Array.from({ length: AT_ONCE }, () => payloadFor(subject));
      const signatures = await Promise.all(payloads.map((payload) => signer.sign(curve, payload)));
      t.ok(payloads.every((payload, index) => isOf(subject, payload, signatures[index])));
    });
    await t.test('a curve that it has no key on', async (t) => {
      const other = curve === 'secp256k1' ? 'ed25519' : 'secp256k1';
      // A key in this process is a key on both curves.
      if (subject.service === undefined || type === 'vault') t.ok(await signer.publicKey(other));
      else
        t.match(await failureOf(signer.publicKey(other)), { code: 'SIGNER_FAILED', message: /^Signer one failed: / });
    });
    const counted = subject.service === undefined ? '' : 'one';
    t.ok(metrics.of('signer_request_duration').includes(`${counted} ${type} ok`));
    showsNoSecret(t);
  });
  return served;
}

/**
 * Tests that the entry in the guide works as written, with the secrets in the variables that it names, and with real
 * addresses and names.
 */
export function signsAsDocumented(t: Test, subject: SignerSubject, entry: SignerDeclaration): Promise<unknown> {
  return t.test('the entry in docs/signers.md', async (t) => {
    t.equal(entry.type, subject.type);
    t.ok(KINDS.get(entry.type)?.configSchema.safeParse(entry.config).success, 'as it stands there');
    const environment = new Map(Object.entries(subject.environment ?? {}));
    const config = filledIn(entry.config as JsonObject, subject.config, environment);
    const { signer } = await open(t, { ...subject, config }, signerHttp(t), environment);
    const payload = payloadFor(subject);
    t.ok(isOf(subject, payload, await signer.sign(subject.curve, payload)));
  });
}

/** The fields of the guide's entry with actual values. Fields that the guide leaves out come from `actual`. */
function filledIn(shown: JsonObject, actual: JsonObject, environment: Map<string, string>): JsonObject {
  const filled: JsonObject = { ...actual };
  for (const [field, value] of Object.entries(shown)) {
    const given = actual[field];
    if (!isObject(value) || !isObject(given)) continue;
    if (value['type'] === 'env') environment.set(String(value['value']), String(given['value']));
    filled[field] = value['type'] === 'env' ? value : filledIn(value, given, environment);
  }
  return filled;
}

/** Tests that every service has to pass. */
export function keepsFaithWithService(t: Test, start: () => Promise<SignerDouble>): Promise<unknown> {
  const refusal = { code: 'SIGNER_FAILED', message: /^Signer one failed: / };

  return t.test('the service', async (t) => {
    const http = signerHttp(t);
    const subject = async (t: Test) => {
      const double = await start();
      t.teardown(() => double.service.stop());
      return { double, ...(await open(t, double, http)), payload: payloadFor(double) };
    };

    await t.test('signs with another key: an error, and no signature', async (t) => {
      const { double, signer, payload, failureOf, showsNoSecret, metrics } = await subject(t);
      await signer.publicKey(double.curve);
      double.mixUp();
      if (double.givesKeyAway === true) {
        t.ok(isOf(double, payload, await signer.sign(double.curve, payload)), 'the key is here already');
        return;
      }
      const refused = { ...refusal, message: /another key|no version of the key|has no key/ };
      t.match(await failureOf(signer.sign(double.curve, payload)), refused);
      t.strictSame(metrics.of('signer_request_duration'), [`one ${double.type} ok`, `one ${double.type} failed`]);
      showsNoSecret(t);
    });

    await t.test('signs other bytes with the right key: an error, and no signature', async (t) => {
      const { double, signer, payload, failureOf, showsNoSecret } = await subject(t);
      await signer.publicKey(double.curve);
      const sign = double.key.sign.bind(double.key);
      double.key.sign = (given) => sign(Buffer.from(given).reverse());
      const asked = signer.sign(double.curve, payload);
      if (double.givesKeyAway === true) t.ok(await asked, 'it signs nothing');
      else t.match(await failureOf(asked), { ...refusal, message: /made by another key, or over something else/ });
      showsNoSecret(t);
    });

    await t.test('has taken the right to the key away, and gives it back', async (t) => {
      const { double, signer, payload, failureOf, showsNoSecret } = await subject(t);
      double.revoke();
      t.match(await failureOf(signer.sign(double.curve, payload)), { ...refusal, message: /answered 4\d\d: / });
      double.restore();
      t.ok(isOf(double, payload, await signer.sign(double.curve, payload)));
      showsNoSecret(t);
    });

    await t.test('is down when it is first needed, and back, and so once its key is known', async (t) => {
      const { double, signer, payload, failureOf, showsNoSecret } = await subject(t);
      for (const isKnown of [false, true]) {
        await double.service.stop();
        const asked = signer.sign(double.curve, payload);
        if (isKnown && double.givesKeyAway === true) t.ok(await asked, 'the key is here already');
        else t.match(await failureOf(asked), { ...refusal, message: /ECONNREFUSED/ });
        await double.service.start();
        t.ok(isOf(double, payload, await signer.sign(double.curve, payload)));
      }
      showsNoSecret(t);
    });

    await t.test('answers slowly, and who asks another one does not wait', async (t) => {
      const { double, signer } = await subject(t);
      const beside = await subject(t);
      const release = double.service.hold();
      const slow = Promise.all(Array.from({ length: AT_ONCE }, () => signer.sign(double.curve, payloadFor(double))));
      let isSlowDone = false;
      void slow.then(() => {
        isSlowDone = true;
      });
      for (let round = 0; round < 5; round += 1) {
        const payload = payloadFor(beside.double);
        t.ok(isOf(beside.double, payload, await beside.signer.sign(double.curve, payload)));
      }
      t.notOk(isSlowDone);
      release();
      t.equal((await slow).length, AT_ONCE);
    });

    await t.test('is busy for a moment: it is asked again', async (t) => {
      const { double, signer, payload } = await subject(t);
      let busy = 2;
      double.service.instead = () => ((busy -= 1) >= 0 ? double.busy : undefined);
      t.ok(isOf(double, payload, await signer.sign(double.curve, payload)));
      t.ok(busy < 0);
    });
  });
}

/** A payload that the kind signs. */
function payloadFor({ publicKey, payload }: Pick<SignerDouble, 'publicKey' | 'payload'>): Buffer {
  return payload === undefined ? randomBytes(32) : payload(publicKey);
}

function isOf({ curve, publicKey }: { curve: Curve; publicKey: Buffer }, payload: Buffer, signature?: Uint8Array) {
  if (signature === undefined) return false;
  if (curve === 'ed25519') return isSigned(publicKey, payload, signature);
  const bytes = Buffer.from(signature);
  const text = `0x${bytes.toString('hex', 0, 64)}${bytes[64] === 1 ? '1c' : '1b'}`;
  return recoverAddress(hexlify(payload), text) === computeAddress(hexlify(publicKey));
}
