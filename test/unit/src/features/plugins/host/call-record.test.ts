import t from 'tap';
import { AppError } from '../../../../../../src/domain/errors.ts';
import { CallJournal } from '../../../../../../src/features/plugins/host/call-journal.ts';
import { RunningCalls } from '../../../../../../src/features/plugins/host/call-record.ts';
import { readPluginGrants } from '../../../../../../src/features/plugins/host/capabilities/grants.ts';
import { pluginEntrySchema } from '../../../../../../src/features/plugins/records/plugin.ts';
import { KEEPING } from '../../../../../support/principal.ts';

const plugin = {
  id: 'p',
  grants: readPluginGrants(pluginEntrySchema.parse({ id: 'p', path: 'p.ts' })),
  maxCalls: 10,
  ...KEEPING,
};
const given = { child: 3, plugin, requestId: 'r', callerKeyId: 'k', fingerprint: () => '' };

t.test('a call changes values under the locks that it holds, which end with it', async (t) => {
  const calls = new RunningCalls();
  const record = calls.begin(given);
  t.strictSame(record.kvCaller, { pluginId: 'p', quota: KEEPING.kvQuota, locks: [] });
  let released = 0;
  record.locks.hold({ name: 'k', fence: 3 }, () => {
    released += 1;
  });
  t.strictSame(record.kvCaller.locks, [{ name: 'k', fence: 3 }]);
  calls.end(record);
  calls.end(record);
  t.equal(released, 1);
});

t.test('a call is found by its number, in its child only, until it ends', async (t) => {
  const calls = new RunningCalls();
  const record = calls.begin(given);
  t.equal(record.call, 1);
  t.equal(calls.begin(given).call, 2);
  t.equal(calls.find(3, 1), record);
  t.equal(calls.find(4, 1), undefined, 'another child cannot speak for it');
  t.equal(calls.size, 2);
  calls.end(record);
  calls.end(record);
  t.equal(calls.find(3, 1), undefined);
  t.equal(calls.size, 1);
});

t.test('the signal is aborted by the end, whether it was asked for before or after', async (t) => {
  const calls = new RunningCalls();
  const early = calls.begin(given);
  const { signal } = early;
  t.equal(signal.aborted, false);
  t.equal(early.signal, signal);
  calls.end(early);
  t.equal(signal.aborted, true);
  const late = calls.begin(given);
  calls.end(late);
  t.equal(late.signal.aborted, true);
});

t.test('with a call nothing waits for its turn any more', async (t) => {
  const calls = new RunningCalls();
  const start = { seed: '', now: 0, version: '', context: '' };
  const deliveries = [{ request: 1, method: 'kv.get', hash: 'a', at: 1, reply: null }];
  const journal = new CallJournal({ claim: { id: 'c', token: 2 }, start, deliveries, maxBytes: 1000 });
  const record = calls.begin({ ...given, journal });
  const met = journal.meet({ request: 2, method: 'kv.set', hash: 'b', payload: null }, true);
  calls.end(record);
  await t.rejects(met, { message: 'The plugin call is over' });
});

t.test('a call fails with the first error, and its guest is told to end', async (t) => {
  const record = new RunningCalls().begin(given);
  const [first, second] = [new AppError('EFFECT_UNKNOWN', {}), new AppError('UNAUTHORIZED', {})];
  record.fail(first);
  let ends = 0;
  record.onFailure = () => {
    ends += 1;
  };
  record.fail(second);
  t.equal(record.failure, first);
  t.equal(ends, 1);
});
