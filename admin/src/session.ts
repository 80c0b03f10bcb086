// The key: kept for this tab, or on this device when its user says so. Never in the address.

const STORED = "remembrancer.key";

export function storedKey(): string | null {
  return from(() => sessionStorage.getItem(STORED)) ?? from(() => localStorage.getItem(STORED));
}

export function keepKey(key: string, isRemembered: boolean): void {
  forgetKey();
  from(() => (isRemembered ? localStorage : sessionStorage).setItem(STORED, key));
}

export function forgetKey(): void {
  from(() => sessionStorage.removeItem(STORED));
  from(() => localStorage.removeItem(STORED));
}

/** A browser may forbid storage altogether; then the key lives as long as the page. */
function from<T>(touch: () => T): T | null {
  try {
    return touch();
  } catch {
    return null;
  }
}
