/**
 * Threat: an attacker controls a child process. It works for itself after its calls, or hides its processor time. Its
 * reports are compared with the system's figures.
 */
import t from 'tap';
import { HostileSandboxes, hostileScript, inside } from '../../sandbox/test/support/hostile-sandbox.ts';
import { eventually } from '../support/eventually.ts';

const hostile = await HostileSandboxes.create();

t.test(
  'a child that works on when its calls are over is stopped by what the system says of it',
  { timeout: 58_000 },
  async (t) => {
    if (process.platform !== 'linux') return void t.pass('this system says nothing');
    const sandbox = await hostile.open(t);
    const works = `${inside('')} done(call); for (;;) {
    const end = Date.now() + 1000; while (Date.now() < end);
    say(UP.ISOLATES, 0, '1'); }`;
    t.match((await sandbox.call(hostileScript(works))).outcome, { kind: 'returned' });
    const closed = await eventually(
      () => sandbox.messages.find(({ type }) => type === 'closed'),
      (message) => message !== undefined,
      50_000,
    );
    t.match(closed, { cause: 'overdue', culprit: 0, detail: /ms of the processor/ });
  },
);
