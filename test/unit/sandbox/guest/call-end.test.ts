import t from 'tap';
import { CallEnd } from '../../../../sandbox/guest/call-end.ts';
import { HostLink } from '../../../../sandbox/guest/host-link.ts';
import { GuestHost } from '../../../support/guest-host.ts';

function open(resultBytes = 100) {
  const host = new GuestHost();
  const end = new CallEnd(new HostLink(host.call));
  const call = end.begin(resultBytes);
  return { host, end, call };
}

t.test('the first end counts', (t) => {
  const { host, end, call } = open();
  t.ok(end.isOpen(call));
  end.returned(call, { a: 1 });
  t.notOk(end.isOpen(call));
  end.returned(call, 2);
  end.threw(call, new Error('late'));
  t.strictSame(host.outcome, { kind: 'returned', json: '{"a":1}' });
  end.threw(end.begin(100), new Error('next'));
  t.match(host.outcomes[1], { kind: 'threw', message: 'next' });
  t.notOk(host.retired);
  t.end();
});

t.test('what became of an ended call is no end of the running one', (t) => {
  const { host, end, call } = open();
  end.uncaught(new Error('in a timer'));
  t.ok(host.retired, 'its handler goes on');
  const next = end.begin(100);
  t.notOk(end.isOpen(call));
  end.returned(call, 'secret of the first');
  end.threw(call, new Error('secret of the first'));
  t.equal(host.outcomes.length, 1);
  end.returned(next, 'second');
  t.strictSame(host.outcomes[1], { kind: 'returned', json: '"second"' });
  t.end();
});

t.test('a call that is cut short ends with its code, and retires the isolate', (t) => {
  const { host, end } = open();
  end.cut('CALL_LIMIT', 'too many');
  t.strictSame(host.outcome, { kind: 'ended', code: 'CALL_LIMIT', message: 'too many' });
  t.ok(host.retired);
  t.end();
});

t.test('a result without text, or with too much of it, ends the call', (t) => {
  const shape = open();
  shape.end.returned(shape.call, { a: 1n });
  t.strictSame(shape.host.outcome, { kind: 'ended', code: 'RESULT_NOT_SERIALIZABLE', message: 'result.a is a BigInt' });
  const size = open(3);
  size.end.returned(size.call, 'abc');
  t.match(size.host.outcome, {
    kind: 'ended',
    code: 'RESULT_TOO_LARGE',
    message: /limit is 3 bytes \(limits.result_bytes\)$/,
  });
  const thrown = open();
  thrown.end.returned(thrown.call, {
    toJSON() {
      throw new TypeError('mine');
    },
  });
  t.match(thrown.host.outcome, { kind: 'threw', message: 'mine', code: 'TYPE_ERROR' });
  t.end();
});

t.test('dropped details leave a line in the log', (t) => {
  const { host, end, call } = open();
  end.threw(call, { message: 'm', details: { a: 1n } });
  t.match(host.outcome, { details: '{}' });
  t.equal(host.lines[0], "warn: The error's details were dropped: details.a is a BigInt");
  t.end();
});

t.test('what escapes ends the running call, and is logged when none runs', (t) => {
  const { host, end } = open();
  end.uncaught(new Error('in the call'));
  t.match(host.outcome, { kind: 'threw', message: 'in the call' });
  end.uncaught('after it');
  t.match(host.lines, [/^uncaught: Uncaught Error: in the call\n\s+at /, /^uncaught: Uncaught "after it"/]);
  t.equal(host.outcomes.length, 1);
  t.end();
});

t.test(
  'what was thrown is in the log with its stack: for the service too, unless it is an answer to the caller',
  (t) => {
    for (const [status, level] of [
      [undefined, 'uncaught'],
      [500, 'uncaught'],
      [499, 'error'],
      [422, 'error'],
    ] as const) {
      const { host, end, call } = open();
      end.threw(call, Object.assign(new Error('m', { cause: 'why' }), { status }));
      t.match(host.logs, [{ level, message: /^Uncaught Error: m\n\s+at .*\[cause\]: "why"$/s }]);
    }
    t.end();
  },
);
