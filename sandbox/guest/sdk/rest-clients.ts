/**
 * The REST clients of the public SDK. They need an API key, and no plugin has one. A plugin can import and construct
 * them, but each method rejects with an error that says what to use instead.
 */
import { frozen } from './frozen.ts';

// oxlint-disable typescript/no-explicit-any -- what the service would answer is nobody's here
export type Methods<Name extends string> = Record<Name, (...given: any[]) => Promise<any>>;

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
export function methodsOf<Name extends string>(
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

export function client<Name extends string>(
  family: string,
  names: readonly Name[],
): new (
  ...settings: unknown[]
) => Methods<Name> {
  const made = class {};
  Object.assign(made.prototype, methodsOf(family, names)());
  return frozen(made, family) as new () => Methods<Name>;
}
