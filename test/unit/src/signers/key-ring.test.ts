import t from 'tap';
import { z } from 'zod';
import { openKeyRing } from '../../../../src/signers/key-ring.ts';
import type { SignerKinds } from '../../../../src/signers/registry.ts';
import type { Signer, SignerKind } from '../../../../src/signers/signer.ts';
import { signerTools } from '../../../support/signer-tools.ts';

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
