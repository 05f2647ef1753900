import t from 'tap';
import { type HeardCount, SequenceLeap } from '../../../../src/engine/sequence-leap.ts';

function leapOf(heard?: HeardCount) {
  const leap = new SequenceLeap(100, heard);
  return (chain: bigint, { from = 0n, at = 0, held = [] as bigint[] } = {}) =>
    leap.isBelieved({ chain, held: new Set(held) }, from, at);
}

t.test('what is known is no leap', async (t) => {
  const hear = leapOf();
  t.ok(hear(0n));
  t.ok(hear(7n, { from: 9n }));
});

t.test('a narrow leap is believed when heard twice, also when it went on', async (t) => {
  const hear = leapOf();
  t.notOk(hear(64n));
  t.ok(hear(60n));
  t.notOk(hear(9n, { from: 8n }), 'another one');
  t.ok(hear(10n, { from: 8n }));
});

t.test('a wide leap has to be heard three times and for long, also at first contact', async (t) => {
  const hear = leapOf();
  t.notOk(hear(1_000n, { at: 0 }));
  t.notOk(hear(1_000n, { at: 99 }));
  t.notOk(hear(1_000n, { at: 99 }));
  t.ok(hear(1_010n, { at: 100 }));
  const rarely = leapOf();
  t.notOk(rarely(1_000n, { at: 0 }));
  t.notOk(rarely(1_000n, { at: 10_000 }), 'a lie may be told again after a pause');
  t.ok(rarely(1_000n, { at: 10_000 }));
});

t.test('any other count in between begins it anew', async (t) => {
  for (const other of [0n, 5n, 900n, 1_000_000n]) {
    const hear = leapOf();
    hear(1_000n, { at: 0 });
    hear(1_000n, { at: 100 });
    t.notOk(hear(other, { at: 100, from: 3n }) && other > 3n);
    t.notOk(hear(1_000n, { at: 100, from: 3n }), String(other));
  }
});

t.test('what was heard before counts, from wherever it leaps', async (t) => {
  const early = leapOf({ chain: 1_000n, since: 0 });
  t.notOk(early(1_001n, { from: 7n, at: 100 }));
  t.ok(early(1_001n, { from: 7n, at: 100 }), 'heard three times in all');
  const wrong = leapOf({ chain: 5n, since: 0 });
  for (let times = 0; times < 4; times += 1) t.notOk(wrong(1_000n, { at: 100 }));
});

t.test('how far its own transactions bring the account is no other count', async (t) => {
  const hear = leapOf();
  for (const at of [0, 50]) hear(1_000n, { at });
  const held = Array.from({ length: 200 }, (_, index) => 1_000n + BigInt(index));
  t.ok(hear(1_200n, { at: 100, held }));
  t.notOk(hear(1_400n, { at: 100, held }));
});
