// The row of links by which a view shows one of its parts.

export function Tabs<Name extends string>(props: {
  names: readonly Name[];
  chosen: Name;
  labels: Record<Name, string>;
  href: (name: Name) => string;
  isQuiet?: boolean;
}) {
  return (
    <nav class="tabs">
      {props.names.map((each) => (
        <a
          key={each}
          class={props.isQuiet ? "button quiet" : "button"}
          href={props.href(each)}
          aria-current={each === props.chosen}
        >
          {props.labels[each]}
        </a>
      ))}
    </nav>
  );
}
