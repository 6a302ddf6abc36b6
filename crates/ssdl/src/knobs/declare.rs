//! The macros that declare knobs.

/// Declares the knobs of a method, or a group of knobs that several methods share.
///
/// One block gives the struct, `Default`, a setter per knob for code (`.sparsity(0.3)`), and
/// [`Knobbed`](crate::knobs::Knobbed): setting and reading by name for text, range checks and the list
/// that documentation is made from. A knob has a sentence, a name, the paper's letter with its spelling
/// (`"λ lambda"`, or `""`), a type, a default and the values it may take.
///
/// An entry without a letter is a group declared elsewhere: its knobs keep their own names in text, on
/// the command line and in Python. A group names the trait of its setters (`as GraphSetters`), which
/// then work on every method that holds the group.
///
/// ```
/// use ssdl::knobs::Knobbed;
///
/// ssdl::knobs! {
///     /// Knobs of a threshold.
///     pub struct Cut as CutSetters {
///         /// Where to cut.
///         height "τ tau": f64 = 0.5, From(0.0);
///     }
/// }
///
/// ssdl::knobs! {
///     /// Knobs of a method.
///     pub struct Saw {
///         /// Number of teeth.
///         n_teeth "": usize = 8, WholeFrom(1);
///         /// The cut.
///         cut: Cut = Cut::new();
///     }
/// }
///
/// let mut saw = Saw::new().n_teeth(9).height(0.25);
/// saw.set("tau", "0.75").unwrap();
/// assert_eq!(saw.values(), [("n_teeth", "9".into()), ("height", "0.75".into())]);
/// assert!(saw.set("height", "-1").is_err());
/// ```
#[macro_export]
macro_rules! knobs {
    (
        $(#[$attribute:meta])*
        pub struct $Name:ident $(as $Setters:ident)? {
            $(
                #[doc = $sentence:literal]
                $knob:ident $($letter:literal)?: $Type:ty = $default:expr $(, $allowed:expr)?;
            )*
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $Name {
            $(#[doc = $sentence] pub $knob: $Type,)*
        }

        impl Default for $Name {
            fn default() -> Self {
                Self { $($knob: $default,)* }
            }
        }

        impl $Name {
            /// All knobs at their defaults.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $($crate::__knob! { setter [$($letter)?] $knob: $Type, $sentence })*
        }

        $($crate::__knob! { holds [$($letter)?] $Name.$knob: $Type })*

        $crate::__knob! { group [$($Setters)?] $Name: $($knob: $Type, $sentence;)* }

        impl $crate::knobs::Knobbed for $Name {
            fn list(&self) -> Vec<$crate::knobs::Knob> {
                let mut list = Vec::new();
                $($crate::__knob! {
                    list [$($letter)?] [$($allowed)?] self.$knob, $sentence, list
                })*
                list
            }

            fn set_own(&mut self, name: &str, text: &str) -> $crate::Result<bool> {
                $($crate::__knob! { set [$($letter)?] [$($allowed)?] self.$knob, name, text })*
                Ok(false)
            }

            fn values(&self) -> Vec<(&'static str, String)> {
                let mut values = Vec::new();
                $($crate::__knob! { values [$($letter)?] self.$knob, values })*
                values
            }

            fn check(&self) -> $crate::Result<()> {
                $($crate::__knob! { check [$($letter)?] [$($allowed)?] self.$knob })*
                Ok(())
            }
        }
    };
}

/// One entry of [`knobs!`](crate::knobs!): a knob has a letter, a group has none.
#[doc(hidden)]
#[macro_export]
macro_rules! __knob {
    (setter [$letter:literal] $knob:ident: $Type:ty, $sentence:literal) => {
        #[doc = $sentence]
        #[must_use]
        pub fn $knob(mut self, value: <$Type as $crate::knobs::KnobValue>::Given) -> Self {
            self.$knob = <$Type as $crate::knobs::KnobValue>::given(value);
            self
        }
    };
    (setter [] $knob:ident: $Type:ty, $sentence:literal) => {};

    (group [] $Group:ident: $($rest:tt)*) => {};
    (group [$Setters:ident] $Group:ident: $($knob:ident: $Type:ty, $sentence:literal;)*) => {
        /// Setters of the group, on everything that holds it.
        pub trait $Setters: $crate::knobs::Holds<$Group> + Sized {
            $(
                #[doc = $sentence]
                #[must_use]
                fn $knob(mut self, value: <$Type as $crate::knobs::KnobValue>::Given) -> Self {
                    let group: &mut $Group = self.group_mut();
                    group.$knob = <$Type as $crate::knobs::KnobValue>::given(value);
                    self
                }
            )*
        }

        impl<H: $crate::knobs::Holds<$Group>> $Setters for H {}
    };

    (holds [$letter:literal] $Name:ident.$knob:ident: $Type:ty) => {};
    (holds [] $Name:ident.$knob:ident: $Type:ty) => {
        impl $crate::knobs::Holds<$Type> for $Name {
            fn group_mut(&mut self) -> &mut $Type {
                &mut self.$knob
            }
        }
    };

    (list [$letter:literal] [$allowed:expr] $self:ident.$knob:ident, $sentence:literal, $list:ident) => {
        $list.extend([$crate::knobs::Knob {
            name: stringify!($knob),
            letter: $letter,
            default: $crate::knobs::KnobValue::text($self.$knob),
            allowed: {
                #[allow(unused_imports)]
                use $crate::knobs::Allowed::*;
                $allowed
            },
            sentence: $sentence.trim_ascii(),
        }]);
    };
    (list [] [] $self:ident.$knob:ident, $sentence:literal, $list:ident) => {
        $list.extend($crate::knobs::Knobbed::list(&$self.$knob));
    };

    (set [$letter:literal] [$allowed:expr] $self:ident.$knob:ident, $name:ident, $text:ident) => {
        if $name == stringify!($knob) {
            #[allow(unused_imports)]
            use $crate::knobs::Allowed::*;
            $self.$knob = $crate::knobs::read($name, $text, $allowed)?;
            return Ok(true);
        }
    };
    (set [] [] $self:ident.$knob:ident, $name:ident, $text:ident) => {
        if $crate::knobs::Knobbed::set_own(&mut $self.$knob, $name, $text)? {
            return Ok(true);
        }
    };

    (values [$letter:literal] $self:ident.$knob:ident, $values:ident) => {
        $values.extend([(stringify!($knob), $crate::knobs::KnobValue::text($self.$knob))]);
    };
    (values [] $self:ident.$knob:ident, $values:ident) => {
        $values.extend($crate::knobs::Knobbed::values(&$self.$knob));
    };

    (check [$letter:literal] [$allowed:expr] $self:ident.$knob:ident) => {{
        #[allow(unused_imports)]
        use $crate::knobs::Allowed::*;
        $crate::knobs::check(stringify!($knob), $self.$knob, $allowed)?;
    }};
    (check [] [] $self:ident.$knob:ident) => {
        $crate::knobs::Knobbed::check(&$self.$knob)?;
    };
}

/// Declares a type of knob whose values are words.
#[macro_export]
macro_rules! choice {
    (
        $(#[$attribute:meta])*
        pub enum $Name:ident { $($(#[$doc:meta])* $Variant:ident = $word:literal,)* }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Name { $($(#[$doc])* $Variant,)* }

        impl $Name {
            /// The word of this choice.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$Variant => $word,)* }
            }

            /// The words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
        }

        impl $crate::knobs::KnobValue for $Name {
            type Given = Self;
            fn given(value: Self) -> Self {
                value
            }
            fn read(text: &str) -> Option<Self> {
                match text { $($word => Some(Self::$Variant),)* _ => None }
            }
            fn text(self) -> String {
                self.name().to_owned()
            }
            fn number(self) -> Option<f64> {
                None
            }
        }
    };
}
