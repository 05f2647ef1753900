import { canonicalHostname, type HostPattern, type HostPermission, hostPattern } from '../../domain/host-permission.ts';
import type { FetchGrants, FetchRule } from '../../egress/fetch/plugin-fetch.ts';

/** The grants of a plugin's `permissions.hosts`; undefined stands for an entry without `permissions`. */
export function hostGrantsOf(pluginId: string, hosts: readonly HostPermission[] | undefined): FetchGrants {
  const grants = (hosts ?? []).flatMap((permission) => {
    const pattern = hostPattern(permission.host);
    return pattern === undefined ? [] : [{ pattern, permission }];
  });

  return {
    rule(url, method) {
      const ofHost = grants.filter(({ pattern }) => covers(pattern, url));
      const granted = ofHost.find(({ permission }) => permits(permission, method));
      if (granted !== undefined) return ruleOf(granted.permission);
      const [named] = ofHost;
      if (named !== undefined) return methodRefusal(pluginId, named.permission, method);
      return hostRefusal(pluginId, shownHost(url), hosts);
    },
    privateRefusal(url) {
      const line = JSON.stringify({ host: shownHost(url), private: true });
      return `name it as ${line} in permissions.hosts of plugin ${pluginId} in config.json to allow it`;
    },
  };
}

function covers({ name, isWildcard, port }: HostPattern, url: URL): boolean {
  // `url.port` is empty for the scheme's default port.
  const isPort = port === undefined ? url.port === '' : port === portOf(url);
  const hostname = canonicalHostname(url);
  return isPort && (isWildcard ? hostname.endsWith(`.${name}`) : hostname === name);
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function permits({ methods }: HostPermission, method: string): boolean {
  return methods === undefined || methods.some((granted) => granted === method);
}

function ruleOf(permission: HostPermission): FetchRule {
  return {
    maxBytes: permission.max_bytes,
    timeoutMs: permission.timeout_ms,
    isPrivate: permission.private,
  };
}

/** The host as a grant must name it. */
function shownHost(url: URL): string {
  const port = url.port === '' ? '' : `:${url.port}`;
  return `${canonicalHostname(url)}${port}`;
}

function hostRefusal(pluginId: string, host: string, hosts: readonly HostPermission[] | undefined): string {
  const refused = `Plugin ${pluginId} has no grant for requests to ${host}:`;
  if (hosts !== undefined) {
    return `${refused} add ${JSON.stringify(host)} to permissions.hosts of its entry in config.json`;
  }
  // An entry without permissions may use every relayer and kv. An entry with permissions may use only what they name.
  return (
    `${refused} add "permissions": {"hosts": [${JSON.stringify(host)}]} to its entry in config.json, ` +
    'and beside "hosts" the "relayers" and "kv" that it uses'
  );
}

function methodRefusal(pluginId: string, { host, methods }: HostPermission, method: string): string {
  const line = JSON.stringify([...(methods ?? []), method]).replaceAll(',', ', ');
  return (
    `Plugin ${pluginId} has no grant for requests to ${host} with ${method}: ` +
    `set "methods": ${line} for it in permissions.hosts of its entry in config.json`
  );
}
