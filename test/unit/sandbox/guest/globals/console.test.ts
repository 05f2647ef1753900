import t from 'tap';
import { createConsole } from '../../../../../sandbox/guest/globals/console.ts';
import { HostLink } from '../../../../../sandbox/guest/host-link.ts';
import { GuestHost } from '../../../../support/guest-host.ts';

function open() {
  const host = new GuestHost();
  const guest = createConsole(new HostLink(host.call));
  return { host, console: guest.console as Console, reset: () => guest.reset() };
}

t.test('each method has its level, also when taken off the console', (t) => {
  const { host, console } = open();
  const { log, info, warn, error, debug, trace, dir, dirxml, table } = console;
  for (const method of [log, info, warn, error, debug, trace, dir, dirxml, table]) method({ a: 1 });
  log();
  const lines = host.lines.map((line) => line.replace(/\n {4}at .*/gs, ' at'));
  t.strictSame(lines, [
    'log: {"a":1}',
    'info: {"a":1}',
    'warn: {"a":1}',
    'error: {"a":1}',
    'debug: {"a":1}',
    'debug: Trace: {"a":1} at',
    'log: {"a":1}',
    'log: {"a":1}',
    'log: {"a":1}',
    'log: ',
  ]);
  t.end();
});

t.test('groups, assertions, counters and clocks', (t) => {
  const { host, console, reset } = open();
  console.group('outer');
  console.groupCollapsed();
  console.log('inner');
  console.groupEnd();
  console.groupEnd();
  console.groupEnd();
  console.log('out');
  console.assert(true, 'not shown');
  console.assert(false);
  console.assert(0, 'why', { a: 1 });
  console.count();
  console.count('c');
  console.count();
  console.countReset();
  console.count();
  console.time('t');
  host.time = 12;
  console.timeLog('t', 'so far');
  console.timeLog('t');
  console.timeEnd('t');
  console.timeEnd('t');
  const lines = host.lines.map((line) => line.replace(/\n {4}at .*/gs, ' at'));
  t.strictSame(lines, [
    'log: outer',
    'log:     inner',
    'log: out',
    'error: Assertion failed',
    'error: Assertion failed: why {"a":1}',
    'log: default: 1',
    'log: c: 1',
    'log: default: 2',
    'log: default: 1',
    'log: t: 12ms so far',
    'log: t: 12ms',
    'log: t: 12ms',
  ]);
  console.group();
  reset();
  console.count();
  t.equal(host.lines.at(-1), 'log: default: 1', 'a call begins with none of it');
  t.end();
});

t.test('what has no meaning here does nothing, and groups do not indent without end', (t) => {
  const { host, console } = open();
  console.clear();
  console.timeStamp();
  console.profile();
  console.profileEnd();
  console.time();
  console.time();
  const lines = host.lines.map((line) => line.replace(/\n {4}at .*/gs, ' at'));
  t.strictSame(lines, []);
  for (let index = 0; index < 100; index++) console.group();
  console.log('x');
  t.equal(host.logs[0]?.message, `${' '.repeat(32)}x`);
  t.end();
});
