import t from 'tap';
import { DEFAULT_LIMITS, type LoadFailure } from '../../../../../../../sandbox/contract.ts';
import {
  type ServingVersion,
  stateOf,
  VersionSwap,
} from '../../../../../../../src/features/plugins/host/catalog/version-swap.ts';

const built = (version: string): ServingVersion => ({
  version: {
    pluginId: 'p',
    version,
    code: '',
    filename: 'plugins/p.ts',
    env: {},
    limits: DEFAULT_LIMITS,
    isolation: 'plugin',
  },
  positions: { mapped: (text) => text },
  bytes: 1,
  inputs: new Set(),
  since: 1,
  reads: { environment: [], fetches: false, hosts: [] },
});
const failure: LoadFailure = {
  outcome: {
    kind: 'threw',
    code: 'TYPE_ERROR',
    status: 418,
    details: '{}',
    message: 'plugins/p.ts failed to load: no\n    at f (plugins/lib/a.ts:3:4)',
  },
  report: 'Uncaught TypeError: no',
};
const present = () => true;
const absent = () => false;

function swapOf(...versions: string[]) {
  const swap = new VersionSwap();
  for (const version of versions) swap.built(built(version), absent);
  return { swap, serves: () => swap.serving?.version.version };
}

t.test('without a process a version serves at once, and gives way when none can load it', (t) => {
  const { swap, serves } = swapOf('v1');
  t.equal(swap.loaded('v1', null, 5), true);
  swap.built(built('v2'), absent);
  t.equal(serves(), 'v2');
  t.equal(swap.loaded('v2', failure, 6), false);
  t.equal(serves(), 'v1');
  t.match(swap, {
    failedAt: 6,
    failure: {
      code: 'TYPE_ERROR',
      message: /failed to load: no/,
      status: 500,
      report: 'Uncaught TypeError: no',
      details: { pluginId: 'p', file: 'plugins/lib/a.ts', line: 3, column: 4 },
    },
  });
  t.equal(stateOf(swap), 'serving');
  swap.built(built('v3'), absent);
  t.equal(swap.failure, undefined);
  t.equal(swap.loaded('v3', null, 7), true);
  t.equal(swap.loaded('v3', failure, 8), true, 'what was loaded once is blamed on the process');
  t.equal(serves(), 'v3');
  t.equal(stateOf(swap), 'serving');
  t.end();
});

t.test('the first version has nothing to give way to: its failure is what calls meet, and what is said of it', (t) => {
  const { swap, serves } = swapOf('v1');
  t.equal(swap.loaded('v1', failure, 5), true);
  t.equal(serves(), 'v1');
  t.match(swap, { failure: { code: 'TYPE_ERROR' }, failedAt: 5 });
  t.equal(stateOf(swap), 'broken');
  swap.built(built('v1'), present);
  t.equal(swap.loaded('v1', failure, 6), true);
  t.match(swap, { failure: { code: 'TYPE_ERROR' }, failedAt: 5 }, 'the same bundle is no other version');
  t.equal(swap.loaded('v1', null, 7), true);
  t.match(swap, { failure: undefined, failedAt: undefined });
  t.equal(stateOf(swap), 'serving');
  const slow: LoadFailure = { outcome: { kind: 'ended', code: 'CPU_LIMIT', message: 'slow' }, report: '' };
  const other = swapOf('v1').swap;
  other.loaded('v1', slow, 5);
  t.match(other.failure, { code: 'CPU_LIMIT', details: { file: 'plugins/p.ts', line: null } });
  t.end();
});

t.test('with a process a version serves from the moment at which it is loaded', (t) => {
  const { swap, serves } = swapOf('v1');
  swap.built(built('v2'), present);
  t.equal(serves(), 'v1');
  t.equal(swap.newest?.version.version, 'v2');
  t.equal(swap.loaded('v1', null, 4), true, 'a further process loads the old one');
  t.equal(serves(), 'v1');
  t.equal(swap.loaded('v2', null, 5), true);
  t.match(swap.serving, { version: { version: 'v2' }, since: 5 });

  swap.built(built('v3'), present);
  t.equal(swap.loaded('v3', failure, 6), false);
  t.equal(serves(), 'v2');
  t.equal(swap.loaded('v3', null, 7), true, 'what nobody waits for any more changes nothing');
  t.equal(serves(), 'v2');
  t.end();
});

t.test('of several that come in a row the last one counts, and going back is a change too', (t) => {
  const { swap, serves } = swapOf('v1');
  let tries = 0;
  const counted = () => {
    tries += 1;
    return true;
  };
  swap.built(built('v2'), counted);
  swap.built(built('v2'), counted);
  t.equal(tries, 1, 'the same bundle is not loaded twice');
  swap.built(built('v3'), counted);
  t.equal(swap.loaded('v2', null, 5), true);
  t.equal(serves(), 'v1');
  swap.built(built('v1'), counted);
  t.equal(tries, 2);
  t.equal(swap.loaded('v3', null, 6), true);
  t.equal(serves(), 'v1');
  t.end();
});

t.test('an error of a build stays until a build goes well, since when it is there', (t) => {
  const { swap, serves } = swapOf('v1');
  const broken = { code: 'COMPILE_ERROR', message: 'p.ts:1:1', status: 500 };
  swap.broken(broken, 3);
  swap.broken({ ...broken }, 4);
  t.match(swap, { failure: broken, failedAt: 3 });
  t.equal(serves(), 'v1');
  swap.broken({ ...broken, message: 'p.ts:2:2' }, 5);
  t.equal(swap.failedAt, 5);
  swap.built(built('v1'), present);
  t.equal(swap.failure, undefined);
  t.equal(swap.failedAt, undefined);
  t.end();
});

t.test('a process that dies under a new version is one chance less for it', (t) => {
  const { swap, serves } = swapOf('v1');
  swap.built(built('v2'), present);
  swap.lost('v1', true, present, 4);
  for (const at of [5, 6]) swap.lost('v2', true, present, at);
  t.equal(serves(), 'v1');
  t.equal(swap.failure, undefined);
  swap.lost('v2', true, present, 7);
  t.match(swap.failure, { code: 'SANDBOX_LOST' });
  t.equal(swap.newest?.version.version, 'v1');

  swap.built(built('v3'), present);
  swap.lost('v3', true, absent, 8);
  t.equal(serves(), 'v3', 'nobody is left who could try it but the next call');
  for (const at of [9, 10]) swap.lost('v3', true, absent, at);
  t.equal(serves(), 'v1');
  t.match(swap.failure, { code: 'SANDBOX_LOST' });
  t.end();
});

t.test('a process that a call of the version before was the end of does not count', (t) => {
  const { swap, serves } = swapOf('v1');
  swap.built(built('v2'), present);
  let tries = 0;
  const counted = () => {
    tries += 1;
    return true;
  };
  for (let at = 4; at < 24; at++) swap.lost('v2', false, counted, at);
  t.equal(tries, 20, 'each time others try it');
  t.equal(swap.failure, undefined);
  t.equal(swap.newest?.version.version, 'v2');
  swap.lost('v2', false, absent, 24);
  t.equal(serves(), 'v2', 'without a process it serves at once');
  for (let at = 25; at < 35; at++) swap.lost('v2', false, absent, at);
  t.equal(serves(), 'v2');
  t.end();
});

t.test('all versions that may still serve are kept', (t) => {
  const { swap } = swapOf('v1');
  t.equal(swap.bytes, 1);
  swap.built(built('v2'), present);
  t.equal(swap.bytes, 2, 'the next one');
  swap.built(built('v3'), present);
  t.equal(swap.bytes, 2, 'of those that are to come only the last');
  swap.loaded('v3', null, 5);
  t.equal(swap.bytes, 1);
  swap.built(built('v4'), absent);
  t.equal(swap.bytes, 2, 'the one before, as long as no process has loaded this');
  t.equal(new VersionSwap().bytes, 0);
  t.end();
});
