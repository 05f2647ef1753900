import { type PluginContext, pluginError } from 'isolayer';

interface Settings {
  relayer: string;
  /** The contract to pause. */
  contract: string;
  /** Titles of the alerts that pause it. Others are ignored. */
  titles: string[];
}

/** The selectors of `paused()` and `pause()`. */
const PAUSED = '0x5c975abb';
const PAUSE = '0x8456cb59';

/** Pauses a contract when OpenZeppelin Monitor says that something is wrong. The service has checked the signature. */
export async function handler({ api, trigger, config }: PluginContext) {
  // Without this, every API key that may call the plugin could pause the contract.
  if (trigger === undefined) throw pluginError('only its webhook calls it', { code: 'NOT_ALLOWED', status: 403 });
  const { relayer, contract, titles } = config as Settings;
  const alert = trigger.event?.body as { title?: unknown } | undefined;
  const title = typeof alert?.title === 'string' ? alert.title : 'without a title';
  if (!titles.includes(title)) return { ignored: title };

  const account = api.useRelayer(relayer);
  const { result, error } = await account.rpc({
    method: 'eth_call',
    params: [{ to: contract, data: PAUSED }, 'latest'],
  });
  // A contract that is paused refuses to be paused. If no node answers, it is better to try.
  if (error === undefined && typeof result === 'string' && /^0x0*1$/.test(result)) return { title, paused: 'before' };
  const sent = await account.sendTransaction({ to: contract, value: 0, data: PAUSE, speed: 'fastest' });
  const { status, hash } = await sent.wait({ interval: 1000, timeout: 240_000 });
  if (status === 'mined' || status === 'confirmed') return { title, paused: 'now', hash };
  throw pluginError(`the transaction is ${status}`, { code: 'NOT_PAUSED', status: 502, details: { id: sent.id } });
}
