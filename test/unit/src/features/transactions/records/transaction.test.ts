import t from 'tap';
import { defaultTiming } from '../../../../../../src/engine/timing.ts';
import {
  type Anchor,
  anchorColumn,
  anchorKindSchema,
  anchorsConflict,
  sequenceOf,
} from '../../../../../../src/features/transactions/records/anchor.ts';
import {
  attemptPurposeSchema,
  livingAttempts,
  UNACCEPTED_ATTEMPT,
} from '../../../../../../src/features/transactions/records/attempt.ts';
import { intentActionSchema } from '../../../../../../src/features/transactions/records/intent.ts';
import {
  accountOfLane,
  BEYOND_ANY_PAUSE_MS,
  chainOfLane,
  familyOfLane,
  isDueAt,
  laneKey,
} from '../../../../../../src/features/transactions/records/lane.ts';
import { decisionKindSchema } from '../../../../../../src/features/transactions/records/timeline-decision.ts';
import {
  type AcceptedTransaction,
  newTransaction,
  onDeathSchema,
} from '../../../../../../src/features/transactions/records/transaction.ts';
import {
  canBecome,
  endsPluginWait,
  FINAL_STATUSES,
  isFinal,
  noopEndSchema,
  transactionStatusSchema,
} from '../../../../../../src/features/transactions/records/transaction-state.ts';

t.test('what was stored stays readable', async (t) => {
  // Stored rows are read by every later version, so none of these words may be removed.
  for (const [schema, words, never] of [
    [onDeathSchema, 'renew end never', 'resign'],
    [anchorKindSchema, 'sequence text none', 'nonce'],
    [attemptPurposeSchema, 'send bump replace noop', 'cancel'],
    [decisionKindSchema, 'parked canceled replaced bumped expired noop-signed refused reorganised gap-filled', 'done'],
  ] as const) {
    for (const word of words.split(' ')) t.equal(schema.parse(word), word);
    t.notOk(schema.safeParse(never).success, never);
  }
});

t.test('anchor', async (t) => {
  const [zero, one] = [sequence(0n), sequence(1n)];
  const [a, b] = [text('0'), text('b')];
  const none = { kind: 'none' } as const;

  function sequence(sequence: bigint) {
    return { kind: 'sequence', sequence } as const;
  }

  function text(text: string) {
    return { kind: 'text', text } as const;
  }

  t.test('two attempts exclude each other where they consume the same, and not nothing', (t) => {
    for (const anchor of [zero, one, a, b]) t.ok(anchorsConflict(anchor, { ...anchor }), anchor.kind);
    t.notOk(anchorsConflict(none, none));
    for (const [left, right] of [
      [zero, one],
      [a, b],
      [zero, a],
      [zero, none],
      [a, none],
    ] as const) {
      t.notOk(anchorsConflict(left, right));
      t.notOk(anchorsConflict(right, left));
    }
    t.end();
  });

  t.test('only one kind has a sequence', (t) => {
    t.strictSame([zero, one, a, none].map(sequenceOf), [0n, 1n, null, null]);
    t.end();
  });
});

t.test('what is not proved dead may still execute', (t) => {
  const attempts = [
    { ordinal: 1, deadAt: 0 },
    { ordinal: 2, ...UNACCEPTED_ATTEMPT },
    { ordinal: 3, deadAt: null },
  ];
  t.strictSame(
    livingAttempts(attempts).map(({ ordinal }) => ordinal),
    [2, 3],
  );
  t.end();
});

t.test('an action is due from its moment on, and when the clock was set back from it', async (t) => {
  const now = 1_700_000_000_000;
  t.equal(isDueAt(null, now), false);
  t.equal(isDueAt(now - 1, now), true);
  t.equal(isDueAt(now, now), true);
  t.equal(isDueAt(now + 1, now), false);
  t.equal(isDueAt(now + BEYOND_ANY_PAUSE_MS, now), false);
  t.equal(isDueAt(now + 3_600_000, now), true);
});

t.test('no pause of the engine is taken for a clock that was set back', async (t) => {
  const { lookCapMs, retryCapMs, furtherMs, reofferMs, unresolvedLookMs } = defaultTiming;
  t.ok(2 * Math.max(lookCapMs, retryCapMs, furtherMs, reofferMs, unresolvedLookMs) < BEYOND_ANY_PAUSE_MS);
});

t.test('an intent is to cancel or to replace, and nothing else', (t) => {
  const request = { value: '0x1', data: null };
  for (const action of [
    { kind: 'cancel' },
    { kind: 'replace', request, validUntil: null },
    { kind: 'replace', request: {}, validUntil: 5 },
  ]) {
    t.strictSame(intentActionSchema.parse(action), action);
  }
  for (const wrong of [
    null,
    {},
    { kind: 'pause' },
    { kind: 'cancel', request },
    { kind: 'replace', request },
    { kind: 'replace', request: [], validUntil: null },
    { kind: 'replace', request: null, validUntil: null },
    { kind: 'replace', request, validUntil: 1.5 },
  ]) {
    t.notOk(intentActionSchema.safeParse(wrong).success, JSON.stringify(wrong));
  }
  t.end();
});

t.test('a lane is named by family, chain and account', async (t) => {
  t.equal(laneKey('evm', '31337', '0xab'), 'evm:31337:0xab');
});

t.test('the key tells what it was made with', async (t) => {
  for (const [family, chain, account] of [
    ['evm', '31337', '0xab'],
    ['evm', '31337@0123456789abcdef', '0xab'],
    ['stellar', 'A network ; 2015: mine', 'GAB'],
  ] as const) {
    const key = laneKey(family, chain, account);
    t.strictSame([familyOfLane(key), chainOfLane(key), accountOfLane(key)], [family, chain, account]);
  }
  t.throws(() => familyOfLane('lost:1:0xab'));
});

t.test('new transaction', async (t) => {
  const accepted: AcceptedTransaction = {
    id: 'one',
    relayerId: 'r1',
    networkType: 'evm',
    lane: 'evm:1:0xab',
    createdAt: 5,
    request: { to: 'x' },
    validUntil: 9,
    anchorKind: 'sequence',
    onDeath: 'renew',
    contentKey: 'key',
  };

  t.test('what was accepted waits, unsigned, and is due at once', async (t) => {
    t.match(newTransaction(accepted), {
      ...accepted,
      status: 'pending',
      statusReason: null,
      parentId: null,
      nextActionAt: 5,
      fields: {},
      sequence: null,
      hash: null,
      sentAt: null,
      confirmedAt: null,
      noopEnd: null,
    });
  });

  t.test('what else a request has is not kept, and who waits for it is', async (t) => {
    const made = newTransaction(
      Object.assign({ ...accepted, statusReason: 'why', parentId: 'two' }, { signedAs: '0x1' }),
    );
    t.notOk('signedAs' in made);
    t.match(made, { statusReason: 'why', parentId: 'two' });
  });
});

t.test('transaction state', async (t) => {
  const ALL = transactionStatusSchema.options;

  t.test('the final statuses are those that nothing leaves', (t) => {
    t.same([...FINAL_STATUSES].sort(), ['canceled', 'confirmed', 'expired', 'failed']);
    for (const status of FINAL_STATUSES) {
      for (const other of ALL) t.notOk(canBecome(status, other), `${status} does not become ${other}`);
    }
    t.end();
  });

  t.test('every status can be reached from pending and can end', (t) => {
    const reached = new Set<string>(['pending']);
    for (let size = 0; size < reached.size; ) {
      size = reached.size;
      for (const from of ALL.filter((status) => reached.has(status))) {
        for (const to of ALL) if (canBecome(from, to)) reached.add(to);
      }
    }
    t.same([...reached].sort(), [...ALL].sort());
    for (const status of ALL.filter((status) => !isFinal(status))) {
      t.ok(
        FINAL_STATUSES.some((end) => canBecome(status, end)),
        `${status} can end`,
      );
    }
    t.end();
  });

  t.test(
    'a reorganisation takes mined back to submitted, death what is signed to pending; nothing else goes back',
    (t) => {
      t.ok(canBecome('mined', 'submitted'));
      for (const status of ['sent', 'submitted'] as const) t.ok(canBecome(status, 'pending'), status);
      t.notOk(canBecome('submitted', 'sent'));
      t.notOk(canBecome('mined', 'sent'));
      t.end();
    },
  );

  t.test('a mined transaction cannot become pending; its version that does nothing may be what was mined', (t) => {
    t.notOk(canBecome('mined', 'pending'));
    for (const end of noopEndSchema.options) t.ok(canBecome('mined', end), end);
    t.notOk(canBecome('pending', 'mined'), 'what was never signed cannot be mined');
    t.end();
  });

  t.test('a wait ends on mined and on every final status', (t) => {
    t.same(ALL.filter(endsPluginWait).sort(), ['canceled', 'confirmed', 'expired', 'failed', 'mined']);
    t.end();
  });
});

const ANCHORS: readonly Anchor[] = [
  { kind: 'sequence', sequence: 0n },
  { kind: 'sequence', sequence: 7n },
  { kind: 'sequence', sequence: 2n ** 64n - 1n },
  { kind: 'text', text: '' },
  { kind: 'text', text: '7' },
  { kind: 'text', text: 'sequence:00000000000000000007' },
  { kind: 'text', text: 'text:7' },
  { kind: 'none' },
];

t.test('an anchor comes back from its text', (t) => {
  for (const anchor of ANCHORS) t.strictSame(anchorColumn.schema.parse(anchorColumn.write(anchor)), anchor);
  t.end();
});

t.test('texts are equal where anchors conflict', (t) => {
  for (const one of ANCHORS) {
    for (const other of ANCHORS) {
      const text = anchorColumn.write(one);
      t.equal(
        text !== null && text === anchorColumn.write(other),
        anchorsConflict(one, other),
        `${text} ${anchorColumn.write(other)}`,
      );
    }
  }
  t.end();
});

t.test('what is no anchor is refused', (t) => {
  for (const text of ['', '7', 'sequence:', 'sequence:7', 'sequence:x0000000000000000007', 'none', 7, undefined]) {
    t.equal(anchorColumn.schema.safeParse(text).success, false, String(text));
  }
  t.end();
});
