/** Threat: a child that answers for a version it was not given, and code that is kept for ever. */
import t from 'tap';
import { LoadedVersions } from '../../../../sandbox/driver/loaded-versions.ts';
import { ProtocolViolation } from '../../../../sandbox/frames.ts';
import { DEFAULT_LIMITS, type LoadFailure } from '../../../../sandbox/protocol.ts';
import { version } from '../../../support/sandbox.ts';

const failure: LoadFailure = { outcome: { kind: 'ended', code: 'CPU_LIMIT', message: 'no' }, report: '' };

function load(versions: LoadedVersions, name: string, failed: LoadFailure | null = null, resultBytes = 10): void {
  versions.expect(version('', { version: name, limits: { result_bytes: resultBytes } }));
  versions.answered({ version: name, isolate_bytes: 1, failure: failed });
}

t.test('answers come in the order of the questions', async (t) => {
  const versions = new LoadedVersions();
  t.throws(() => versions.answered({ version: 'v1', isolate_bytes: 1, failure: null }), ProtocolViolation);
  versions.expect(version('', { version: 'v1' }));
  t.ok(versions.loading);
  t.throws(() => versions.answered({ version: 'v2', isolate_bytes: 1, failure: null }), ProtocolViolation);
});

t.test('the current version and the one before it are served', async (t) => {
  const versions = new LoadedVersions();
  for (const name of ['v1', 'v2', 'v3']) load(versions, name);
  t.equal(versions.find('v1'), undefined);
  t.match(versions.find('v2'), { failure: null });
  t.match(versions.find('v3'), { failure: null });
  t.notOk(versions.loading);
});

t.test('failures displace nothing that is served', async (t) => {
  const versions = new LoadedVersions();
  load(versions, 'v1');
  for (const name of ['bad1', 'bad2', 'bad3']) load(versions, name, failure);
  t.match(versions.find('v1'), { failure: null });
  t.match(versions.find('bad3'), { failure });
  t.equal(versions.find('bad1'), undefined);
});

t.test('the limits are those of the newest version, the longest result that of any', async (t) => {
  const versions = new LoadedVersions();
  t.same(versions.limits, DEFAULT_LIMITS);
  t.equal(versions.resultBytes, 0);
  load(versions, 'v1', null, 500);
  load(versions, 'v2', null, 20);
  t.equal(versions.limits.result_bytes, 20);
  t.equal(versions.resultBytes, 500);
  load(versions, 'v2', null, 30);
  t.equal(versions.limits.result_bytes, 30, 'loaded again');
});
