/**
 * The REST clients of the public SDK. They need an API key, and no plugin has one. A plugin can import and construct
 * them, but each method rejects with an error that says what to use instead.
 */
import { frozen } from './frozen.ts';

// oxlint-disable typescript/no-explicit-any -- what the service would answer is nobody's here
type Methods<Name extends string> = Record<Name, (...given: any[]) => Promise<any>>;

/** Settings of a client. They are stored, but have no effect. */
class Settings {
  [setting: string]: any;

  constructor(settings: ConfigurationParameters = {}) {
    Object.assign(this, settings);
  }

  isJsonMime(mime: string): boolean {
    return /^application\/(?:json|[^;/ \t]+\+json)[ \t]*(?:;|$)/i.test(mime);
  }
}
export const Configuration = /* @__PURE__ */ frozen(Settings, 'Configuration');
export type Configuration = Settings;
export type ConfigurationParameters = Record<string, any>;
// oxlint-enable typescript/no-explicit-any

/** Makes a function that returns a client's methods. Each method rejects. */
function methodsOf<Name extends string>(
  family: string,
  names: readonly Name[],
): (...settings: unknown[]) => Methods<Name> {
  const refusing = (name: Name) => async () => {
    throw new Error(
      `${family}.${name} is not there in a plugin, which has no API key. Use the api of its context: api.useRelayer(id)`,
    );
  };
  return frozen(() => {
    const methods: Partial<Methods<Name>> = {};
    for (const name of names) methods[name] = frozen(refusing(name));
    return methods as Methods<Name>;
  });
}

function client<Name extends string>(
  family: string,
  names: readonly Name[],
): new (
  ...settings: unknown[]
) => Methods<Name> {
  const made = class {};
  Object.assign(made.prototype, methodsOf(family, names)());
  return frozen(made, family) as new () => Methods<Name>;
}

const health = ['health', 'readiness'] as const;
export const HealthApi = /* @__PURE__ */ client('HealthApi', health);
export type HealthApi = Methods<(typeof health)[number]>;
export const HealthApiFactory = /* @__PURE__ */ methodsOf('HealthApi', health);
export const HealthApiFp = /* @__PURE__ */ methodsOf('HealthApi', health);
export const HealthApiAxiosParamCreator = /* @__PURE__ */ methodsOf('HealthApi', health);

const metrics = ['listMetrics', 'metricDetail', 'scrapeMetrics'] as const;
export const MetricsApi = /* @__PURE__ */ client('MetricsApi', metrics);
export type MetricsApi = Methods<(typeof metrics)[number]>;
export const MetricsApiFactory = /* @__PURE__ */ methodsOf('MetricsApi', metrics);
export const MetricsApiFp = /* @__PURE__ */ methodsOf('MetricsApi', metrics);
export const MetricsApiAxiosParamCreator = /* @__PURE__ */ methodsOf('MetricsApi', metrics);

const networks = ['getNetwork', 'listNetworks', 'updateNetwork'] as const;
export const NetworksApi = /* @__PURE__ */ client('NetworksApi', networks);
export type NetworksApi = Methods<(typeof networks)[number]>;
export const NetworksApiFactory = /* @__PURE__ */ methodsOf('NetworksApi', networks);
export const NetworksApiFp = /* @__PURE__ */ methodsOf('NetworksApi', networks);
export const NetworksApiAxiosParamCreator = /* @__PURE__ */ methodsOf('NetworksApi', networks);

const notifications = [
  'createNotification',
  'deleteNotification',
  'getNotification',
  'listNotifications',
  'updateNotification',
] as const;
export const NotificationsApi = /* @__PURE__ */ client('NotificationsApi', notifications);
export type NotificationsApi = Methods<(typeof notifications)[number]>;
export const NotificationsApiFactory = /* @__PURE__ */ methodsOf('NotificationsApi', notifications);
export const NotificationsApiFp = /* @__PURE__ */ methodsOf('NotificationsApi', notifications);
export const NotificationsApiAxiosParamCreator = /* @__PURE__ */ methodsOf('NotificationsApi', notifications);

const plugins = ['callPlugin', 'callPluginGet', 'getPlugin', 'listPlugins', 'updatePlugin'] as const;
export const PluginsApi = /* @__PURE__ */ client('PluginsApi', plugins);
export type PluginsApi = Methods<(typeof plugins)[number]>;
export const PluginsApiFactory = /* @__PURE__ */ methodsOf('PluginsApi', plugins);
export const PluginsApiFp = /* @__PURE__ */ methodsOf('PluginsApi', plugins);
export const PluginsApiAxiosParamCreator = /* @__PURE__ */ methodsOf('PluginsApi', plugins);

const relayers = [
  'buildSponsoredTransaction',
  'cancelTransaction',
  'createRelayer',
  'deletePendingTransactions',
  'deleteRelayer',
  'getRelayer',
  'getRelayerBalance',
  'getRelayerStatus',
  'getTransactionById',
  'getTransactionByNonce',
  'listRelayers',
  'listTransactions',
  'quoteSponsoredTransaction',
  'replaceTransaction',
  'rpc',
  'sendTransaction',
  'sign',
  'signTransaction',
  'signTypedData',
  'updateRelayer',
] as const;
export const RelayersApi = /* @__PURE__ */ client('RelayersApi', relayers);
export type RelayersApi = Methods<(typeof relayers)[number]>;
export const RelayersApiFactory = /* @__PURE__ */ methodsOf('RelayersApi', relayers);
export const RelayersApiFp = /* @__PURE__ */ methodsOf('RelayersApi', relayers);
export const RelayersApiAxiosParamCreator = /* @__PURE__ */ methodsOf('RelayersApi', relayers);

const signers = ['createSigner', 'deleteSigner', 'getSigner', 'listSigners', 'updateSigner'] as const;
export const SignersApi = /* @__PURE__ */ client('SignersApi', signers);
export type SignersApi = Methods<(typeof signers)[number]>;
export const SignersApiFactory = /* @__PURE__ */ methodsOf('SignersApi', signers);
export const SignersApiFp = /* @__PURE__ */ methodsOf('SignersApi', signers);
export const SignersApiAxiosParamCreator = /* @__PURE__ */ methodsOf('SignersApi', signers);
