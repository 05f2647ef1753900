/** Threat: a call that kills its process and is run again, or one that is blamed for what another did. */
import t from 'tap';
import { diedOfGuest, diedOfMemory, verdictOn } from '../../../../sandbox/driver/ending.ts';
import { DEFAULT_LIMITS } from '../../../../sandbox/protocol.ts';

const gone = (signal: NodeJS.Signals | null, stderr = '') => ({ code: null, signal, stderr });

t.test('a death for want of memory is told by its signal or its last words', async (t) => {
  t.ok(diedOfMemory(gone('SIGABRT')));
  t.ok(diedOfMemory(gone('SIGTRAP')));
  t.ok(diedOfMemory(gone('SIGSEGV', 'FATAL ERROR: JavaScript heap out of memory')));
  t.ok(diedOfMemory(gone('SIGSEGV', '<--- Heap statistics --->')), 'abort() of the first process of a namespace');
  t.notOk(diedOfMemory(gone('SIGSEGV', 'something else')));
  t.notOk(diedOfMemory(gone('SIGKILL')));
});

t.test('a SIGKILL from outside is nobody’s fault', async (t) => {
  t.notOk(diedOfGuest(gone('SIGKILL')));
  t.ok(diedOfGuest(gone('SIGSEGV')));
});

t.test('each cause has its verdict for the culprit', async (t) => {
  const culprit = (cause: Parameters<typeof verdictOn>[0], memory = false) =>
    verdictOn(cause, true, DEFAULT_LIMITS, memory);
  t.match(culprit('overdue'), { code: 'CPU_LIMIT', message: /500 ms.*limits\.slice_ms/, lost: false });
  t.match(culprit('memory'), { code: 'MEMORY_LIMIT', message: /512 MiB.*limits\.process_mb/, lost: false });
  t.match(culprit('died', true), { code: 'MEMORY_LIMIT', message: /128 MiB.*limits\.memory_mb/, lost: false });
  t.match(culprit('died'), { code: 'SANDBOX_LOST', lost: false });
  t.match(culprit('protocol'), { code: 'SANDBOX_LOST', lost: false });
  t.match(culprit('closed'), { code: 'SANDBOX_LOST', lost: true });
});

t.test('the other calls may be run again, whatever the cause', async (t) => {
  for (const cause of ['overdue', 'memory', 'died', 'protocol', 'closed', 'start'] as const) {
    t.match(verdictOn(cause, false, DEFAULT_LIMITS, true), { code: 'SANDBOX_LOST', lost: true }, cause);
  }
});
