import { type PluginContext, pluginError, Speed } from '@openzeppelin/relayer-sdk';
import { parseTransfer } from './transfer.ts';

/**
 * Pays `value` wei to `to` from a relayer's account and answers when it is in a block, so that the receiver needs
 * no gas of its own: `POST /api/v1/plugins/sponsored-transfer/call`. A receiver that refuses the money is an error.
 */
export async function handler({ api, params, kv }: PluginContext) {
  const transfer = parseTransfer(params);
  const relayer = api.useRelayer(transfer.relayerId);
  console.log(`sending ${transfer.value} wei to ${transfer.to} through ${transfer.relayerId}`);

  const sent = await relayer.sendTransaction({
    to: transfer.to,
    value: transfer.value,
    data: '0x',
    speed: Speed.FAST,
  });
  console.info(`accepted as ${sent.id}`);

  const mined = await sent.wait({ interval: 500, timeout: 60_000 });
  if (mined.status === 'failed' || mined.status === 'expired' || mined.status === 'canceled') {
    throw pluginError(`the transfer ended as ${mined.status}: ${mined.status_reason}`, {
      code: 'TRANSFER_FAILED',
      status: 502,
      details: { id: mined.id, status: mined.status },
    });
  }
  await kv.set('last-transfer', { id: mined.id, hash: mined.hash });
  return { id: mined.id, hash: mined.hash, status: mined.status, nonce: mined.nonce };
}
