/**
 * The judge of the model tests and of the soaks notices every end without a cause. Otherwise a run without complaints
 * would prove nothing.
 */
import t, { type Test } from 'tap';
import { type Case, type Execution, type Faults, isFaultless, judgeCases } from '../support/model/judge.ts';

const NOW = 1_000_000;

/** A run with one request, which was accepted and executed as it should be. */
function goodRun() {
  const shown = { status: 'confirmed', reason: null, hash: '0xa', effect: 'pay', anchor: '7', endedAt: NOW - 5 };
  const one = { name: 'one', effect: 'pay', validUntil: null as number | null, intents: [] as Case['intents'], shown };
  const executed = { hash: '0xa', effect: 'pay' as string | null, anchor: '7', succeeded: true, isForeign: false };
  const executions: Execution[] = [executed];
  const truth = { executions, isRefused: (_effect: string): boolean => false, now: NOW };
  return { one, executed, truth };
}

type Run = ReturnType<typeof goodRun>;

function faultsOf(spoil: (run: Run) => void): Faults {
  const run = goodRun();
  spoil(run);
  return judgeCases([run.one], run.truth);
}

function finds(t: Test, what: keyof Faults, spoil: (run: Run) => void, message: RegExp): void {
  t.match(faultsOf(spoil)[what].join('\n'), message);
}

function passes(t: Test, what: string, spoil: (run: Run) => void): void {
  const faults = faultsOf(spoil);
  t.ok(isFaultless(faults), `${what}: ${JSON.stringify(faults)}`);
}

/** The request has ended with this status, and nothing of it is in a block. */
function ends(status: string) {
  return ({ one, executed }: Run) => {
    Object.assign(one.shown, { status, reason: 'because' });
    Object.assign(executed, { effect: null, hash: '0xnoop' });
  };
}

const also = (first: (run: Run) => void, then: (run: Run) => void) => (run: Run) => {
  first(run);
  then(run);
};

t.test('what is true passes', (t) => {
  passes(t, 'confirmed', () => {});
  passes(t, 'a revert', ({ one, executed }) => {
    one.shown.status = 'failed';
    executed.succeeded = false;
  });
  passes(
    t,
    'foreign use',
    also(ends('failed'), ({ executed }) => void Object.assign(executed, { isForeign: true })),
  );
  passes(
    t,
    'a refusal by all',
    also(ends('failed'), ({ truth }) => void (truth.isRefused = (what) => what === 'pay')),
  );
  for (const answer of ['done', 'unheard'] as const) {
    const asked = also(ends('canceled'), ({ one }) => void (one.intents = [{ kind: 'cancel', answer }]));
    passes(t, `a cancel: ${answer}`, asked);
  }
  passes(
    t,
    'its time',
    also(ends('expired'), ({ one }) => void (one.validUntil = NOW - 10)),
  );
  passes(t, 'something else instead', ({ one, executed }) => {
    one.intents = [{ kind: 'replace', effect: 'give', answer: 'done' }];
    one.shown.effect = 'give';
    executed.effect = 'give';
  });
  t.end();
});

t.test('lost', (t) => {
  finds(t, 'lost', ({ one }) => void Object.assign(one, { shown: undefined }), /does not know it/);
  finds(t, 'lost', ({ one }) => void (one.shown.status = 'submitted'), /without an end/);
  const silent = ({ one }: Run) => void (one.intents = [{ kind: 'cancel', answer: 'open' }]);
  finds(t, 'lost', silent, /never said what came of an intent to cancel/);
  t.end();
});

t.test('doubled', (t) => {
  const again = ({ executed, truth }: Run) => void truth.executions.push({ ...executed, hash: '0xb', anchor: '8' });
  finds(t, 'doubled', again, /in blocks 2 times/);
  const both = ({ one, executed, truth }: Run) => {
    one.intents = [{ kind: 'replace', effect: 'give', answer: 'done' }];
    truth.executions.push({ ...executed, effect: 'give', hash: '0xb', anchor: '8' });
  };
  finds(t, 'doubled', both, /in blocks 2 times/);
  const unasked = ({ executed, truth }: Run) =>
    void truth.executions.push({ ...executed, effect: 'steal', anchor: '8' });
  finds(t, 'doubled', unasked, /nobody asked for steal/);
  const twice = ({ executed, truth }: Run) => void truth.executions.push({ ...executed, effect: null });
  finds(t, 'doubled', twice, /7 was consumed 2 times/);
  t.end();
});

t.test('an end that the chain contradicts', (t) => {
  finds(t, 'wrong', ends('confirmed'), /no such effect/);
  finds(t, 'wrong', ({ one }) => void (one.shown.hash = '0xother'), /no such effect/);
  finds(t, 'wrong', ({ one }) => void (one.shown.effect = 'give'), /what executed is pay/);
  finds(t, 'wrong', ({ executed }) => void (executed.succeeded = false), /no such effect/);
  for (const status of ['failed', 'canceled', 'expired']) {
    finds(t, 'wrong', ({ one }) => void (one.shown.status = status), /it executed/);
  }
  const reverted = ({ one, executed }: Run) => {
    executed.succeeded = false;
    one.shown.status = 'expired';
  };
  finds(t, 'wrong', reverted, /it is in a block/);
  t.end();
});

t.test('an end without its cause', (t) => {
  finds(t, 'wrong', ends('failed'), /nothing reverted, interfered or refused it/);
  const elsewhere = ({ executed }: Run) => void Object.assign(executed, { isForeign: true, anchor: '6' });
  finds(t, 'wrong', also(ends('failed'), elsewhere), /nothing reverted, interfered/);
  const refusedBefore = ({ one, truth }: Run) => {
    one.intents = [{ kind: 'replace', effect: 'give', answer: 'done' }];
    truth.isRefused = (effect) => effect === 'pay';
  };
  finds(t, 'wrong', also(ends('failed'), refusedBefore), /nothing reverted, interfered/);
  finds(t, 'wrong', ends('canceled'), /nobody asked for that/);
  const denied = ({ one }: Run) => void (one.intents = [{ kind: 'cancel', answer: 'refused' }]);
  finds(t, 'wrong', also(ends('canceled'), denied), /nobody asked for that/);
  finds(t, 'wrong', ends('expired'), /to be sent at any time/);
  finds(
    t,
    'wrong',
    also(ends('expired'), ({ one }) => void (one.validUntil = NOW - 1)),
    /its time had not passed/,
  );
  t.end();
});

t.test('an intent that was answered as refused has no effect', (t) => {
  const intent = { kind: 'replace', effect: 'give', answer: 'refused' } as const;
  const executes = ({ one, executed }: Run) => {
    one.intents = [intent];
    one.shown.effect = 'give';
    executed.effect = 'give';
  };
  finds(t, 'wrong', executes, /give was refused, and it executed/);
  const shows = ({ one }: Run) => {
    one.intents = [intent];
    one.shown.effect = 'give';
  };
  finds(t, 'wrong', also(ends('failed'), shows), /shows give, which was refused/);
  t.end();
});
