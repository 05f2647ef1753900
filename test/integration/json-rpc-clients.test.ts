/** A JSON-RPC library works through a relayer as with a node: in batches, and with the reasons of reverts. */
import { AbiCoder, Contract, FetchRequest, getCreateAddress, isError, JsonRpcProvider } from 'ethers';
import t from 'tap';
import { lifecycleStage, RECEIVER, RELAYER } from '../support/lifecycle-stage.ts';

/** Contract code that always reverts with the given data. */
const refusing = (data: string) => {
  const size = (data.length / 2).toString(16).padStart(2, '0');
  return `0x60${size}600a5f3960${size}5ffd${data}`;
};

t.test('ethers reads, sends and hears why a call reverts; a deployment tells where its contract is', async (t) => {
  const stage = await lifecycleStage(t);
  const { url, apiKey } = stage.service;
  const request = new FetchRequest(`${url}${RELAYER}/rpc`);
  request.setHeader('authorization', `Bearer ${apiKey}`);
  const provider = new JsonRpcProvider(request, undefined, { cacheTimeout: -1 });
  t.teardown(() => provider.destroy());
  const sizes: number[] = [];
  await provider.on('debug', ({ action, payload }) => {
    if (action === 'sendRpcPayload' && Array.isArray(payload)) sizes.push(payload.length);
  });

  const addresses = Array.from({ length: 150 }, (_, index) => `0x${index.toString(16).padStart(40, '0')}`);
  const [block, balances] = await Promise.all([
    provider.getBlockNumber(),
    Promise.all([stage.address, ...addresses].map((address) => provider.getBalance(address))),
  ]);
  t.equal(block, 0);
  t.equal(balances[0], 10n ** 20n);
  t.ok(Math.max(...sizes) > 50, 'in batches, as the library makes them');

  const no = AbiCoder.defaultAbiCoder().encode(['string'], ['no thanks']).slice(2);
  await stage.anvil.rpc('anvil_setCode', [RECEIVER, refusing(`08c379a0${no}`)]);
  const contract = new Contract(RECEIVER, ['function take()', 'error Late(uint256 by)'], provider);
  const take = () => contract['take']?.staticCall();
  const calls = await Promise.allSettled([take(), take(), provider.getBlockNumber()]);
  t.match(calls, [{ reason: { code: 'CALL_EXCEPTION', reason: 'no thanks' } }, { status: 'rejected' }, { value: 0 }]);
  const late = AbiCoder.defaultAbiCoder().encode(['uint256'], [7]).slice(2);
  await stage.anvil.rpc('anvil_setCode', [
    RECEIVER,
    refusing(`${contract.interface.getError('Late')?.selector.slice(2)}${late}`),
  ]);
  const error: unknown = await take()?.catch((reason: unknown) => reason);
  t.ok(isError(error, 'CALL_EXCEPTION') && error.revert?.name === 'Late' && error.revert.args[0] === 7n);
  const unread: unknown = await provider.send('eth_sendRawTransaction', ['0x00']).catch((reason: unknown) => reason);
  t.match(unread, { error: { code: Number, message: /\w/ } });

  // PUSH1 1 PUSH0 MSTORE8 PUSH1 1 PUSH0 RETURN: deploys one byte of code.
  const deployment = { data: '0x60015f5360015ff3', value: 0, speed: 'fast' };
  const id = await stage.send(deployment);
  const pooled = await stage.untilPooled(id);
  const expected = getCreateAddress({ from: stage.address, nonce: pooled.nonce }).toLowerCase();
  t.equal(pooled.contract_address, expected);
  const confirmed = await stage.mineUntil(id, 'confirmed');
  t.equal(confirmed.contract_address, expected);
  t.equal(await provider.getCode(confirmed.contract_address), '0x01');
  t.equal((await provider.getTransactionReceipt(confirmed.hash))?.contractAddress?.toLowerCase(), expected);

  const failing = await stage.send({ ...deployment, data: '0x5f5ffd', gas_limit: 100_000 });
  t.equal((await stage.mineUntil(failing, 'failed')).contract_address, null);
  t.equal('contract_address' in (await stage.get(await stage.send())), false);

  const { status, body } = await stage.ask('POST', `${RELAYER}/rpc`, []);
  t.equal(status, 400);
  t.match(body.error, /1 to 1000 calls/);
});
