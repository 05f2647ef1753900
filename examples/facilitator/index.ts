import { type PluginContext, pluginError } from 'isolayer';

interface Settings {
  relayer: string;
  network: string;
  /** The account that is paid. `least` is the smallest amount accepted, in the smallest unit of the asset. */
  pay_to: string;
  least: string;
}

interface Payment {
  /**
   * The token's address. `data` calls its `transferWithAuthorization`, which the payer has signed and which moves the
   * money.
   */
  asset: string;
  data: string;
  to: string;
  value: string;
}

/** The routes of an x402 facilitator. It checks payments and sends them to the chain. */
export async function handler({ api, params, route, config }: PluginContext) {
  const settings = config as Settings;
  switch (route) {
    case '':
    case '/':
      return { endpoints: ['/supported', '/verify', '/settle'] };
    case '/supported':
      return { kinds: [{ x402Version: 2, scheme: 'exact', network: settings.network }] };
    case '/verify': {
      const reason = invalidReason(params, settings);
      return reason === undefined ? { isValid: true } : { isValid: false, invalidReason: reason };
    }
    case '/settle':
      return await settle(api, params, settings);
    default:
      throw pluginError(`there is no ${route}`, { code: 'NOT_FOUND', status: 404 });
  }
}

async function settle(api: PluginContext['api'], params: unknown, settings: Settings) {
  const { relayer, network } = settings;
  const errorReason = invalidReason(params, settings);
  if (errorReason !== undefined) return { success: false, errorReason, transaction: '', network };
  const { asset, data } = params as Payment;
  const sent = await api.useRelayer(relayer).sendTransaction({ to: asset, value: 0, data });
  const { status, hash } = await sent.wait({ interval: 500, timeout: 30_000 });
  const success = status === 'mined' || status === 'confirmed';
  return { success, transaction: hash ?? '', network, ...(!success && { errorReason: status }) };
}

function invalidReason(params: unknown, { pay_to, least }: Settings): string | undefined {
  const { asset, data, to, value } = (params ?? {}) as Partial<Payment>;
  if (typeof asset !== 'string' || typeof data !== 'string' || typeof to !== 'string') return 'malformed';
  if (typeof value !== 'string' || !/^\d{1,78}$/.test(value)) return 'malformed';
  if (to.toLowerCase() !== pay_to.toLowerCase()) return 'wrong_receiver';
  return BigInt(value) < BigInt(least) ? 'too_little' : undefined;
}
