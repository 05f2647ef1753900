import { JsonRpcProvider } from 'ethers';
import t from 'tap';
import { startAnvil } from '../../../../src/cli/dev.ts';
import { runTyped } from '../../../support/command.ts';

t.test('a node of its own, which funds whom it is told, and ends', async (t) => {
  const node = await startAnvil('', fetch);
  t.teardown(() => node.stop());
  const account = '0x70997970c51812dc3a010c7d01b50e0d17dc79c9';
  await node.fund(account);
  const provider = new JsonRpcProvider(node.url, undefined, { staticNetwork: true });
  t.equal(await provider.getBalance(account), 10n ** 18n);
  provider.destroy();
  node.stop();
  await t.rejects(node.fund(account));
});

t.test('without one it says what to install', async (t) => {
  await t.rejects(startAnvil('', fetch, 'no-such-anvil'), /dev needs anvil, .*https:\/\/getfoundry\.sh/);
});

t.test(
  'what it does is told, and what it is typed with is checked; all else is in test/slow/dev.test.ts',
  async (t) => {
    const told = await runTyped(t.testdir({}), ['dev', '--help']);
    t.match(told.said, /local-1, on anvil[^]*temporary folder/);
    const wrong = await runTyped(t.testdir({}), ['dev', 'x']);
    t.match(wrong, { code: 2, complained: /It is: dev \[--port <port>\]/ });
  },
);
