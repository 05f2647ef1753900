import t from 'tap';
import { BundlerLost } from '../../../../src/plugin-host/bundler-lost.ts';

t.test('a lost build says why, and whether another one may have been the cause', async (t) => {
  t.match(new BundlerLost('late', false), { reason: 'late', wasAlone: false, message: 'the bundler took too long' });
  t.match(new BundlerLost('memory', true), { reason: 'memory', wasAlone: true, message: /too much memory/ });
  t.match(new BundlerLost('outdated', true), { reason: 'outdated', message: /files changed/ });
  t.ok(new BundlerLost('ended', true) instanceof Error);
});
